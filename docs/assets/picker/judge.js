// The verdict on a request, by the rules of attnmatrix/index.py, verdict.py and selection.py.
// A cell's answer on a field is 2 (surely takes it), 1 (nobody has established it) or 0.

import { acceptedValues, reasonMessage, shownValue, unknownMessage } from "./reasons.js";
import { matches } from "./gpus.js";
import { has } from "./sets.js";
import { compare, contains, parseVersion } from "./versions.js";

/** The data of picker.jsonl: tables put together from its lines, with every cell whole. */
export function readData(text) {
  const data = { models: {}, engines: {}, gpus: {}, priorities: [], distributions: [] };
  for (const line of text.trim().split("\n")) {
    for (const [table, part] of Object.entries(JSON.parse(line))) {
      if (typeof part !== "object") data[table] = part;
      else if (Array.isArray(part)) data[table] = [...(data[table] || []), ...part];
      else data[table] = { ...data[table], ...part };
    }
  }
  return unfold(data);
}

function unfold(data) {
  data.matched = new Map();
  for (const backend of Object.values(data.backends)) {
    backend.answers = { cells: new Map(), refusals: new Map() };
    for (const kind of ["cells", "refusals"]) {
      let before = {};
      backend[kind] = backend[kind].map((own) => {
        before = { ...before, ...own };
        const texts = (numbers) => numbers.map((i) => backend.texts[i]);
        return { ...before, sources: texts(before.sources), notes: texts(before.notes) };
      });
    }
  }
  return data;
}

const named = (value) => value !== null && value !== undefined;

function featureAnswer(cell, feature) {
  if (cell.unknown_features.includes(feature) || cell.unknown.includes("features")) return 1;
  return cell.features.includes(feature) ? 2 : 0;
}

function answer(data, backend, cell, field, value) {
  switch (field) {
    case "phase":
      return cell.phase === value ? 2 : 0;
    case "mla":
      return backend.mla === null || backend.mla === value ? 2 : 0;
    case "sparse":
      return (backend.sparse ?? cell.topk.length > 0) === value ? 2 : 0;
    case "compute_capability": {
      const takes = cell.compute_capability.some((text) => matches(data, text, value));
      const except = () => cell.except_capability.some((text) => matches(data, text, value));
      return takes && !except() ? 2 : 0;
    }
    case "kv_cache_dtype":
      return cell.spellings.includes(value) ? 2 : 0;
    case "sink":
      return value ? featureAnswer(cell, "attention_sink") : 2;
    default: {
      const axis = data.axes[field];
      if (!has(cell[axis], value)) return 0;
      return cell.unknown.includes(axis) ? 1 : 2;
    }
  }
}

function versionAnswer(accepted, version) {
  if (accepted === "none") return 0;
  if (accepted === "any") return 2;
  if (accepted === "unknown") return 1;
  return contains(accepted, version) ? 2 : 0;
}

function libraryAnswer(versions, libraries) {
  const answers = libraries
    .filter(([name]) => name in versions)
    .map(([name, version]) => versionAnswer(versions[name], version));
  return answers.length ? Math.max(...answers) : 2;
}

const REMEMBERED = 4096;

/** The cells' answers on a value of a field. What a cell says cannot change, so each is worked out
 * once: an option of the form differs from what is chosen in one field. */
function answers(backend, kind, field, value, ask) {
  const known = backend.answers[kind];
  const key = `${field} ${value}`;
  let found = known.get(key);
  if (!found) {
    if (known.size > REMEMBERED) known.clear();
    found = Uint8Array.from(backend[kind], ask);
    known.set(key, found);
  }
  return found;
}

/** [field, value, answers of the cells] for every field that a request names. */
function masks(data, backend, kind, request) {
  const found = [];
  const add = (field, value, key, ask) =>
    found.push([field, value, answers(backend, kind, field, key, ask)]);
  for (const field of data.fields) {
    const value = request[field];
    if (!named(value)) continue;
    add(field, value, value, (cell) => answer(data, backend, cell, field, value));
  }
  for (const name of request.features) {
    add("features", name, name, (cell) => featureAnswer(cell, name));
  }
  if (!request.libraries.length) return found;
  for (const [field, attribute] of Object.entries(data.versions)) {
    const held = backend[kind].map((cell) => cell[attribute] || {});
    const pairs = request.libraries.filter(([name]) => held.some((each) => name in each));
    const key = pairs.map(([name, version]) => `${name}==${version.text}`).join(" ");
    if (pairs.length) {
      add(field, pairs, key, (cell) => libraryAnswer(cell[attribute] || {}, pairs));
    }
  }
  return found;
}

/** The verdict of one backend: its status, the fields that fail, and the cells that take the
 * request or, if none does, miss it in these fields alone. */
export function judge(data, backend, request) {
  const { cells } = backend;
  const asked = masks(data, backend, "cells", request);
  const least = new Uint8Array(cells.length).fill(2);
  for (const [, , found] of asked) {
    for (let i = 0; i < found.length; i++) if (found[i] < least[i]) least[i] = found[i];
  }
  const most = Math.max(0, ...least);
  const status = ["unsupported", "unknown", "supported"][most];
  let left = cells.map((_, i) => i);
  if (most) left = left.filter((i) => least[i] === most);
  const taking = left.map((i) => cells[i]);
  if (most === 2) return { status, taking, failing: [] };
  const failing = [];
  for (const [field, value, found] of asked) {
    const kept = left.filter((i) => found[i] > most);
    if (kept.length) left = kept;
    else failing.push([field, value]);
  }
  return { status, taking: most ? taking : left.map((i) => cells[i]), failing };
}

/** Of the cells that miss a request, those that accept what the first one does. */
function nearest(data, { taking, failing }) {
  return failing.slice(0, -1).reduce((near, [field]) => {
    const accepts = (cell) => JSON.stringify(acceptedValues(data, field, null, [cell]));
    const wanted = accepts(near[0]);
    return near.filter((cell) => accepts(cell) === wanted);
  }, taking);
}

/** The object that `explain --json` prints for a backend. */
export function explain(data, name, request) {
  const backend = data.backends[name];
  const verdict = judge(data, backend, request);
  const { status, failing } = verdict;
  const refused = status === "unsupported";
  const taking = refused ? nearest(data, verdict) : verdict.taking;
  const spelling = request.kv_cache_dtype;
  const told = refused ? taking.filter((cell) => cell.spellings.includes(spelling)) : taking;
  const common = (attribute) => {
    const values = new Set(told.map((cell) => cell[attribute]));
    return values.size === 1 ? [...values][0] : null;
  };
  const message = (field, value) =>
    status === "unknown"
      ? unknownMessage(data, field, value, request)
      : reasonMessage(data, field, value, taking, name, request);
  return {
    backend: name,
    verdict: status,
    reasons: failing.map(([field, value]) => ({
      field,
      value: shownValue(data, field, value),
      accepted: status === "unknown" ? [] : acceptedValues(data, field, value, taking),
      message: message(field, value),
    })),
    kv_cache_dtype: common("kv_cache_dtype"),
    kv_format: common("kv_format"),
    extra_kv_format: common("extra_kv_format"),
    bytes_per_token: common("bytes_per_token"),
    kernel: common("kernel"),
    padded_query_heads: refused ? null : paddedHeads(taking, request.query_heads),
    evidence: refused ? null : evidence(taking, request),
    notes: refused ? knownFailures(data, backend, request) : sharedNotes(taking),
  };
}

function paddedHeads(cells, heads) {
  if (!named(heads)) return null;
  const padded = (cell) => cell.padded_to.filter((n) => n >= heads).sort((a, b) => a - b)[0];
  const counts = new Set(cells.map((cell) => padded(cell) ?? heads));
  const [count] = counts;
  return counts.size === 1 && count !== heads ? count : null;
}

/** Whether a record is too old for a request; null if it has no bearing on it. */
function staleFor(record, request) {
  const { compute_capability: gpu, dtype } = request;
  if (named(gpu) && gpu.join(".") !== record.compute_capability) return null;
  const wanted = request.sink ? [...request.features, "attention_sink"] : request.features;
  if (named(dtype) && !record.dtypes.includes(dtype)) return null;
  if (!wanted.every((name) => record.features.includes(name))) return null;
  const { distribution, version } = record.provider;
  const asked = request.libraries.find(([name]) => name === distribution);
  if (!asked) return record.stale;
  const order = compare(asked[1].public, parseVersion(version).public);
  return order < 0 ? null : order > 0;
}

function evidence(cells, request) {
  const sources = [...new Set(cells.flatMap((cell) => cell.sources))];
  const records = new Map();
  let verified = true;
  for (const cell of cells) {
    let fresh = false;
    for (const { file, gpu, compute_capability, provider, date, ...claim } of cell.evidence) {
      const stale = staleFor({ ...claim, compute_capability, provider }, request);
      if (stale === null) continue;
      fresh ||= !stale;
      const known = records.get(file)?.stale ?? true;
      records.set(file, { gpu, compute_capability, provider, date, file, stale: known && stale });
    }
    verified &&= fresh;
  }
  const status = verified ? "verified" : sources.length ? "cited" : "none";
  return { status, sources, records: [...records.values()] };
}

function sharedNotes([first, ...others]) {
  return first.notes.filter((note) => others.every((cell) => cell.notes.includes(note)));
}

function knownFailures(data, backend, request) {
  const asked = masks(data, backend, "refusals", request);
  const met = backend.refusals.filter((_, i) => asked.every(([, , found]) => found[i]));
  return [...new Set(met.map((cell) => `${cell.kernel}: ${cell.refuses}`))];
}

/** The backends that are tried, in order; of a model that has its own, those alone. */
export function candidates(data, request) {
  const ranked = byPriority(data, request);
  const own = ownBackends(data, request);
  return own.length ? ranked.filter((name) => own.includes(name)) : ranked;
}

const ownBackends = (data, request) =>
  request.model ? data.models[request.model].backends : [];

function byPriority(data, request) {
  let possible = null;
  const gpu = request.compute_capability;
  for (const { when, order } of data.priorities) {
    const patterns = when.compute_capability;
    if (gpu && patterns && !patterns.some((text) => matches(data, text, gpu))) continue;
    const answers = Object.entries(when)
      .filter(([field]) => field !== "compute_capability")
      .map(([field, wanted]) => {
        const value = request[field];
        if (!named(value)) return 1;
        return (Array.isArray(wanted) ? has(wanted, value) : wanted === value) ? 2 : 0;
      });
    const fits = Math.min(2, ...answers);
    if (fits === 2 && (gpu || !patterns)) return order;
    if (fits && possible === null) possible = order;
  }
  return possible ?? Object.keys(data.backends).sort();
}

/** What `select --json` prints: the first supported backend, and every candidate's verdict. */
export function select(data, request) {
  const tried = candidates(data, request).map((name) => explain(data, name, request));
  const first = tried.find(({ verdict }) => verdict === "supported");
  const own = ownBackends(data, request);
  const others = own.length ? own : Object.keys(data.backends).sort();
  const unranked = others.filter(
    (name) =>
      !tried.some(({ backend }) => backend === name) &&
      judge(data, data.backends[name], request).status === "supported",
  );
  return { selected: first ? first.backend : null, candidates: tried, unranked };
}
