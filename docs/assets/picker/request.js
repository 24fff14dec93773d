// A request from what a user chose; what a model fills in, as attnmatrix/request.py does.

import { DEVICES, parseCapability } from "./sets.js";
import { parseVersion } from "./versions.js";

const OF_A_MODEL = ["dtype", "head_size", "mla", "sparse", "sink", "topk"];
const FLAGS = ["mla", "sparse", "sink"];
const COUNTS = ["head_size", "block_size", "query_heads", "topk"];
const YES_NO = { yes: true, no: false };

/**
 * The request of chosen texts (absent or "": not named), and what is wrong with them, by field.
 * libraries are chosen as `library.NAME`, features as `feature.NAME`.
 */
export function makeRequest(data, chosen) {
  const wrong = {};
  const request = { phase: chosen.phase || "decode", features: [], libraries: [] };
  for (const field of ["dtype", "kv_cache_dtype"]) request[field] = chosen[field] || null;
  for (const field of FLAGS) request[field] = YES_NO[chosen[field]] ?? null;
  for (const field of COUNTS) {
    const text = (chosen[field] || "").trim();
    request[field] = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : null;
    if (text && request[field] === null) wrong[field] = `${text} is not a positive whole number`;
  }
  readGpu(data, chosen.gpu || "", request, wrong);
  for (const name of data.distributions) {
    const text = (chosen[`library.${name}`] || "").trim();
    const version = text && parseVersion(text);
    if (version) request.libraries.push([name, version]);
    else if (text) wrong[`library.${name}`] = `${text} is not a version, such as 0.33.0`;
  }
  for (const name of Object.keys(data.features).sort()) {
    if (chosen[`feature.${name}`]) request.features.push(name);
  }
  fill(data, chosen, request, wrong);
  return { request, wrong };
}

function readGpu(data, text, request, wrong) {
  request.gpu = null;
  request.compute_capability = null;
  if (Object.hasOwn(DEVICES, text)) {
    request.gpu = text;
    request.compute_capability = DEVICES[text];
  } else if (text in data.gpus) {
    request.gpu = text;
    request.compute_capability = parseCapability(data.gpus[text]);
  } else if (text) {
    request.compute_capability = parseCapability(text);
    if (!request.compute_capability) {
      wrong.gpu = `${text} is not in the list; a compute capability such as 9.0 can be typed, too`;
    }
  }
}

function fill(data, chosen, request, wrong) {
  const model = Object.hasOwn(data.models, chosen.model || "") ? data.models[chosen.model] : null;
  request.model = model ? chosen.model : null;
  if (!model) {
    if (chosen.model) wrong.model = `${chosen.model} is not in the list`;
    return;
  }
  for (const field of OF_A_MODEL) request[field] ??= model[field];
  const gpus = Number(chosen.tensor_parallel || 1);
  if (!(Number.isInteger(gpus) && gpus > 0) || model.query_heads % gpus) {
    wrong.tensor_parallel =
      `${chosen.tensor_parallel} GPUs cannot share ` +
      `the ${model.query_heads} query heads of ${chosen.model} equally`;
  } else {
    request.query_heads ??= model.query_heads / gpus;
  }
}

/** Bytes of KV cache on each GPU for one sequence, as attnmatrix.models counts them. */
export function kvCacheBytes(model, context, bytesPerToken, extraBytesPerToken) {
  const extraBytes = extraBytesPerToken ?? bytesPerToken;
  return model.kv_pools.reduce((sum, pool) => {
    const tokens = Math.min(context, pool.window ?? context);
    const records = pool.layers * Math.floor(tokens / (pool.tokens_per_record ?? 1));
    return sum + records * (pool.extra ? extraBytes : bytesPerToken);
  }, 0);
}

/** The command that an engine takes for a choice. */
export function command(engine, model, backend, chosen) {
  const parts = [engine.command, model ? model.hub : "MODEL"];
  const typed = { backend, ...chosen };
  for (const [part, flag] of Object.entries(engine.flags)) {
    if (typed[part]) parts.push(flag, typed[part]);
  }
  return parts.join(" ");
}
