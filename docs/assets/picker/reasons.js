// Reasons in words: the sentences of the data, filled as attnmatrix/reasons.py fills them.

import { capabilityName, matches, own } from "./gpus.js";
import { describe } from "./sets.js";
import { nearest } from "./spelling.js";
import { clauses, compare, contains } from "./versions.js";

const unique = (groups) => [...new Set(groups.flat())];
const OPEN = ["any", "none", "unknown"];

/** A sentence with its places filled. */
export function sentence(data, key, places = {}) {
  const shown = { true: "True", false: "False" };
  return data.sentences[key].replace(/\{(\w+)\}/g, (_, name) => {
    const value = places[name];
    return typeof value === "boolean" ? shown[value] : value;
  });
}

export function capabilityText(data, capability) {
  const name = capabilityName(data, capability);
  return name === "none" ? sentence(data, "no_gpu") : name;
}

const libraryText = (data, [name, version]) =>
  sentence(data, "library", { name, version: version.text });

/** What the nearest cells accept for a field in place of a value, each once. */
export function acceptedValues(data, field, value, near) {
  if (field === "mla" || field === "sparse") return [!value];
  if (field === "sink") return [false];
  if (field === "features") return unique(near.map((cell) => cell.features));
  if (field === "phase") return unique(near.map((cell) => cell.phase));
  if (field === "kv_cache_dtype") return unique(near.map((cell) => cell.spellings));
  if (field === "compute_capability") {
    return unique(
      near.map((cell) => {
        const less = cell.except_capability.join(", ");
        return cell.compute_capability.map((text) => (less ? `${text} less ${less}` : text));
      }),
    );
  }
  if (field in data.versions) {
    const texts = (cell) =>
      Object.entries(cell[data.versions[field]] || {})
        .filter(([, accepted]) => accepted !== "none" && accepted !== "unknown")
        .map(([name, accepted]) => (accepted === "any" ? name : name + accepted));
    return unique(near.map(texts));
  }
  if (field === "dtype") return unique(near.map((cell) => cell.dtypes));
  return describe(near.map((cell) => cell[data.axes[field]]));
}

/** A reason's value as plain data. */
export function shownValue(data, field, value) {
  if (field === "compute_capability") return capabilityText(data, value);
  return field in data.versions ? value.map((pair) => libraryText(data, pair)) : value;
}

export const unknownMessage = (data, field, value, request) =>
  sentence(data, "unknown", { subject: subject(data, field, value, request) });

/** One line: what was wrong, what is accepted, what to do. */
export function reasonMessage(data, field, value, near, name, request) {
  const accepted = acceptedValues(data, field, value, near);
  if (field in data.kinds) {
    const word = data.kinds[field];
    const kind = accepted[0] ? word : sentence(data, "not", { kind: word });
    return sentence(data, "kind", { name, kind, field, value });
  }
  if (field === "sink") return sentence(data, "sink");
  if (field in data.versions) {
    const held = near.map((cell) => cell[data.versions[field]] || {});
    const what = field === "engine" ? name : sentence(data, "kernel");
    return libraryMessage(data, value, held, what);
  }
  const gpuless = (item) => field === "compute_capability" && item === "none";
  const shown = accepted.map((item) => (gpuless(item) ? sentence(data, "no_gpu") : item));
  const known = shown.join(", ") || sentence(data, "none");
  if (field === "features") return sentence(data, "feature", { value, known });
  const [, unit, advice] = data.words[field];
  if (field === "topk" && !accepted.length) return sentence(data, "dense", { value });
  const gpu = request.compute_capability;
  const here = (cell) => cell.compute_capability.some((text) => matches(data, text, gpu));
  const tells = field !== "compute_capability" && field !== "phase" && gpu && near.some(here);
  const spelled = field === "kv_cache_dtype" || field === "dtype";
  return sentence(data, "refused", {
    subject: subject(data, field, value, request),
    where: tells ? sentence(data, "where", { capability: capabilityText(data, gpu) }) : "",
    hint: spelled ? hint(data, value, accepted) : "",
    known,
    unit: typeof accepted.at(-1) === "number" ? unit : "",
    advice,
  });
}

function hint(data, value, accepted) {
  const spelled = own(data.dtype_spellings, value.toLowerCase());
  if (accepted.includes(spelled)) return sentence(data, "hint", { word: spelled });
  const word = data.names.includes(value) ? null : nearest(value, accepted);
  return word === null ? "" : sentence(data, "hint", { word });
}

function subject(data, field, value, request) {
  if (field in data.versions) return value.map((pair) => libraryText(data, pair)).join(", ");
  if (field === "features") return sentence(data, "feature_subject", { value });
  if (field === "sink") return sentence(data, "sink_subject");
  const what = data.words[field][0];
  if (field !== "compute_capability") return sentence(data, "subject", { what, value });
  const capability = capabilityText(data, value);
  if (!request.gpu || own(data.devices, request.gpu)) {
    return sentence(data, "subject", { what, value: capability });
  }
  return sentence(data, "gpu", { what, capability, gpu: request.gpu });
}

function libraryMessage(data, libraries, held, what) {
  const texts = (name) => unique(held.filter((each) => name in each).map((each) => each[name]));
  const takes = (text, version) =>
    text === "any" || (!OPEN.includes(text) && contains(text, version));
  const parts = libraries
    .map(([name, version]) => [name, version, texts(name)])
    .filter(([, version, accepted]) => accepted.length && !accepted.some((t) => takes(t, version)))
    .map(([name, version, accepted]) => versionMessage(data, name, version, accepted, what));
  const named = libraries.map(([name]) => name);
  const others = unique(held.map(Object.keys))
    .filter((name) => !named.includes(name))
    .filter((name) => texts(name).some((text) => text !== "none" && text !== "unknown"))
    .map((name) =>
      sentence(data, "other", { name, versions: simplified(data, texts(name)).join(" or ") }),
    );
  const also = others.length ? sentence(data, "also", { others: others.join(", ") }) : "";
  return parts.join("; ") + also;
}

function versionMessage(data, name, version, accepted, what) {
  if (accepted.every((text) => text === "none")) {
    return sentence(data, "not_shipped", { name, what });
  }
  const needs = simplified(data, accepted).join(" or ");
  const key = tooOld(version, accepted) ? "too_old" : "other_version";
  return sentence(data, key, { name, version: version.text, needs, what });
}

/** Specifiers in words; adjoining ranges such as >=1,<2 and >=2 as one. */
function simplified(data, accepted) {
  const words = {
    any: sentence(data, "any_version"),
    unknown: sentence(data, "unknown_version"),
  };
  const kept = accepted.filter((text) => text in words).map((text) => words[text]);
  const ranges = [];
  for (const text of accepted) {
    if (OPEN.includes(text)) continue;
    const bounds = {};
    for (const [operator, bound, wildcard] of clauses(text)) {
      if (!wildcard) bounds[operator] = bound;
    }
    const known = Object.keys(bounds).every((operator) => operator === ">=" || operator === "<");
    if (known && bounds[">="]) ranges.push([bounds[">="], bounds["<"] || null]);
    else kept.push(text);
  }
  ranges.sort((a, b) => compare(a[0].key, b[0].key));
  const joined = [];
  for (const [low, high] of ranges) {
    const last = joined.at(-1);
    if (last && last[1] !== null && compare(low.key, last[1].key) <= 0) last[1] = high;
    else if (!last || last[1] !== null) joined.push([low, high]);
  }
  const texts = joined.map(([low, high]) => `>=${low.text}` + (high ? `,<${high.text}` : ""));
  return [...texts, ...kept];
}

/** Whether the version lies below a lower bound of every specifier. */
function tooOld(version, accepted) {
  const specifiers = accepted.filter((text) => !OPEN.includes(text));
  const below = (text) =>
    clauses(text).some(
      ([operator, bound]) =>
        [">=", ">", "~=", "=="].includes(operator) && compare(version.key, bound.key) < 0,
    );
  return specifiers.length > 0 && specifiers.every(below);
}
