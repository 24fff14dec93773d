// A request from what a user chose; what a model fills in, as attnmatrix/request.py does. What cannot
// be read is told in the runtime's sentences.

import { capabilityOf, findGpu, own, parseCapability } from "./gpus.js";
import { sentence } from "./reasons.js";
import { caseless, nearest } from "./spelling.js";
import { parseVersion } from "./versions.js";

const FLAGS = ["mla", "sparse", "sink"];
const COUNTS = ["head_size", "block_size", "query_heads", "topk", "tensor_parallel"];
const YES_NO = { yes: true, no: false };
const DIGITS = 15; // what a number of this language holds to the unit

/** A text as Python quotes it. */
const quoted = (text) => (text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text}'`);

/** The number of a text such as 64, 064 or 1_024: {number}, or {fault} where it is none. */
export function whole(data, text, digits = DIGITS) {
  const match = /^\+?0*([1-9][0-9]*)$/.exec(text.trim().replace(/(?<=[0-9])_(?=[0-9])/g, ""));
  const number = match && Number(match[1]);
  if (match && match[1].length <= digits) return { number };
  const value = quoted(text);
  if (match) return { fault: `${value} is too large: write at most ${digits} digits` };
  return { fault: sentence(data, "not_whole", { value }) };
}

function didYouMean(data, word, known) {
  const found = nearest(word, known);
  return found === null ? "" : sentence(data, "hint", { word: found });
}

function notOneOf(data, word, known) {
  const hint = didYouMean(data, word, known);
  return sentence(data, "not_one_of", { value: quoted(word), known: known.join(", "), hint });
}

/**
 * The request of chosen texts (absent or "": not named), and what is wrong with them, by field.
 * libraries are chosen as `library.NAME`, features as `feature.NAME`.
 */
export function makeRequest(data, chosen) {
  const wrong = {};
  const request = { features: [], libraries: [] };
  request.dtype = readDtype(data, chosen.dtype || "", wrong);
  request.kv_cache_dtype = chosen.kv_cache_dtype || null;
  for (const field of FLAGS) {
    request[field] = own(YES_NO, chosen[field] || "") ?? null;
    if (chosen[field] && request[field] === null) {
      wrong[field] = notOneOf(data, chosen[field], Object.keys(YES_NO));
    }
  }
  for (const field of COUNTS) {
    const { number, fault } = chosen[field] ? whole(data, chosen[field]) : {};
    request[field] = number ?? null;
    if (fault) wrong[field] = fault;
  }
  request.phase = chosen.phase || data.phases[0];
  if (!data.phases.includes(request.phase)) wrong.phase = notOneOf(data, request.phase, data.phases);
  readGpu(data, chosen.gpu || "", request, wrong);
  for (const [key, text] of Object.entries(chosen)) {
    if (!text) continue;
    if (key.startsWith("library.")) readLibrary(data, key, text, request, wrong);
    if (key.startsWith("feature.")) readFeature(data, key, text, request, wrong);
  }
  request.libraries.sort(([a], [b]) => (a < b ? -1 : 1));
  request.features.sort();
  fill(data, chosen.model || "", request, wrong);
  return { request, wrong };
}

function readDtype(data, text, wrong) {
  const name = text.replace(/^torch\./, "");
  if (name && !/^[\p{ID_Start}_]\p{ID_Continue}*$/u.test(name)) {
    wrong.dtype = sentence(data, "not_a_dtype", { value: quoted(name) });
  }
  return own(data.dtype_spellings, name.toLowerCase()) ?? (name || null);
}

function readGpu(data, text, request, wrong) {
  request.gpu = text ? findGpu(data, text) : null;
  request.compute_capability = request.gpu
    ? capabilityOf(data, request.gpu)
    : parseCapability(data, text);
  if (text && !request.compute_capability) {
    const hint = didYouMean(data, text, Object.keys(data.gpus));
    const missing = sentence(data, "not_in_matrix", { value: quoted(text), hint });
    wrong.gpu = `${missing}; ${sentence(data, "other_gpu")}`;
  }
}

function readLibrary(data, key, text, request, wrong) {
  const name = key.slice("library.".length);
  const version = parseVersion(text);
  const known = data.distributions;
  if (!known.includes(name)) {
    const places = { value: quoted(name), hint: didYouMean(data, name, known) };
    wrong[key] = sentence(data, "no_provider", { ...places, known: known.join(", ") });
  } else if (version) request.libraries.push([name, version]);
  else wrong[key] = sentence(data, "not_a_version", { name, value: quoted(text) });
}

function readFeature(data, key, text, request, wrong) {
  const name = key.slice("feature.".length);
  const known = Object.keys(data.features);
  if (!known.includes(name)) wrong[key] = notOneOf(data, name, known);
  else if (own(YES_NO, text) === undefined) wrong[key] = notOneOf(data, text, Object.keys(YES_NO));
  else if (YES_NO[text]) request.features.push(name);
}

/** The matrix's name of a model by one that people type, or null. */
export function findModel(data, text) {
  const fold = (name) => caseless(name.slice(name.lastIndexOf("/") + 1).replace(/[\s_-]+/g, ""));
  if (own(data.models, text)) return text;
  const found = Object.entries(data.models).find(([name, { aliases, hub }]) =>
    [name, ...aliases, hub].some((known) => fold(known) === fold(text)),
  );
  return found ? found[0] : null;
}

function fill(data, text, request, wrong) {
  request.model = text ? findModel(data, text) : null;
  if (!request.model) {
    const known = Object.entries(data.models).flatMap(([name, { aliases }]) => [name, ...aliases]);
    const places = { value: quoted(text), hint: didYouMean(data, text, known) };
    if (text) wrong.model = sentence(data, "not_in_matrix", places);
    return;
  }
  const model = data.models[request.model];
  for (const field of data.of_a_model) request[field] ??= model[field];
  const heads = model.query_heads;
  const gpus = request.tensor_parallel ?? 1;
  if (heads % gpus) {
    const fits = Array.from({ length: heads }, (_, i) => i + 1).filter((n) => heads % n === 0);
    const places = { gpus, heads, model: request.model, known: fits.join(", ") };
    wrong.tensor_parallel ??= sentence(data, "unequal", places);
  } else {
    request.query_heads ??= heads / gpus;
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

/** The command that an engine takes: flags for those parts of a choice that are typed. */
export function command(engine, model, typed) {
  const parts = [engine.command, model ? model.hub : "MODEL"];
  for (const [part, flag] of Object.entries(engine.flags)) {
    if (typed[part]) parts.push(flag, typed[part]);
  }
  return parts.join(" ");
}
