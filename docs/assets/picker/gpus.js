// GPUs, their compute capabilities and patterns, as attnmatrix/gpus.py and capability.py have them.

import { caseless } from "./spelling.js";

/** Own property of an object that texts of a user look up, so that "constructor" is none. */
export const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);

/** [major, minor] of "9.0", "9.0a", "sm_90a" or a device; null for anything else. */
export function parseCapability(data, text) {
  const folded = text.trim().toLowerCase();
  const device = own(data.devices, folded);
  if (device) return device.capability;
  const match =
    /^([0-9]{1,2})\.([0-9])[a-z]?$/.exec(folded) ||
    /^(?:sm|compute)_?([0-9]{1,2})([0-9])[a-z]?$/.exec(folded);
  return match && Number(match[1]) ? [Number(match[1]), Number(match[2])] : null;
}

/** The matrix's spelling of a GPU or device, however it is typed; null where there is none. */
export function findGpu(data, text) {
  const fold = (name) => caseless(name.replace(new RegExp(data.gpu_noise, "gi"), ""));
  if (own(data.gpus, text)) return text;
  const wanted = fold(text);
  const device = own(data.device_names, wanted);
  if (device) return device;
  const names = Object.keys(data.gpus);
  const same = names.find((name) => fold(name) === wanted);
  if (same) return same;
  // What a driver adds to a name: "NVIDIA H100 80GB HBM3".
  const words = text.trim().split(/[\s_-]+/).join(" ");
  const literal = (name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const starts = names.filter((name) =>
    new RegExp(`^${data.gpu_vendor}${literal(name)}(?:\\s|$)`, "i").test(words),
  );
  return starts.sort((a, b) => b.length - a.length)[0] ?? null;
}

/** The compute capability of a GPU or device that findGpu found. */
export const capabilityOf = (data, name) => parseCapability(data, own(data.gpus, name) ?? name);

/** A capability as it is written: "9.0", or a device's name. */
export function capabilityName(data, capability) {
  if (capability[0]) return capability.join(".");
  const { devices } = data;
  return Object.keys(devices).find((name) => devices[name].capability[1] === capability[1]);
}

const rank = ([major, minor]) => major * 10 + minor;

/** Whether a pattern such as any, rocm, 9.0, 10.x or >=8.0,<10.0 matches a capability. */
export function matches(data, pattern, capability) {
  const key = `${pattern} ${rank(capability)}`;
  const { matched } = data;
  if (!matched.has(key)) matched.set(key, worksOut(data, pattern, capability));
  return matched.get(key);
}

function worksOut(data, pattern, capability) {
  if (pattern === "any") return true;
  const device = own(data.devices, pattern);
  if (device || capability[0] === 0) {
    return Boolean(device) && rank(device.capability) === rank(capability);
  }
  if (pattern.endsWith(".x")) return Number(pattern.slice(0, -2)) === capability[0];
  return pattern.split(",").every((bound) => {
    const [, operator, text] = /^\s*(>=|<=|<|>)?\s*([0-9.]+)\s*$/.exec(bound);
    const order = rank(capability) - rank(parseCapability(data, text));
    if (!operator) return order === 0;
    if (order === 0) return operator.endsWith("=");
    return operator.startsWith(">") ? order > 0 : order < 0;
  });
}
