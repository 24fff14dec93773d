// The verdict on a request, by the rules of attnmatrix/index.py, verdict.py and selection.py.
// A cell's answer on a field is 2 (surely takes it), 1 (nobody has established it) or 0.

import { acceptedValues, reasonMessage, shownValue, unknownMessage } from "./reasons.js";
import { has, matches } from "./sets.js";
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
  for (const [name, backend] of Object.entries(data.backends)) {
    backend.name = name;
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
      const takes = cell.compute_capability.some((text) => matches(text, value));
      return takes && !cell.except_capability.some((text) => matches(text, value)) ? 2 : 0;
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

/** [field, value, answers of the cells] for every field that a request names. */
function masks(data, backend, cells, request) {
  const found = data.fields
    .filter((field) => named(request[field]))
    .map((field) => {
      const value = request[field];
      return [field, value, cells.map((cell) => answer(data, backend, cell, field, value))];
    });
  for (const name of request.features) {
    found.push(["features", name, cells.map((cell) => featureAnswer(cell, name))]);
  }
  for (const [field, attribute] of Object.entries(data.versions)) {
    const held = cells.map((cell) => cell[attribute] || {});
    const pairs = request.libraries.filter(([name]) => held.some((each) => name in each));
    if (pairs.length) {
      found.push([field, pairs, held.map((each) => libraryAnswer(each, pairs))]);
    }
  }
  return found;
}

/** The verdict of one backend: its status and cells, and how to say the rest. */
export function judge(data, backend, request) {
  const { cells } = backend;
  const asked = masks(data, backend, cells, request);
  const least = cells.map((_, i) => Math.min(2, ...asked.map(([, , answers]) => answers[i])));
  const most = Math.max(0, ...least);
  if (most === 2) {
    return { status: "supported", taking: cells.filter((_, i) => least[i] === 2), failing: [] };
  }
  const status = most ? "unknown" : "unsupported";
  let left = most ? indexes(least, 1) : cells.map((_, i) => i);
  const failing = [];
  for (const [field, value, answers] of asked) {
    const kept = left.filter((i) => answers[i] > most);
    if (kept.length) left = kept;
    else failing.push([field, value]);
  }
  if (most) return { status, taking: indexes(least, 1).map((i) => cells[i]), failing };
  let near = left.map((i) => cells[i]);
  for (const [field] of failing.slice(0, -1)) {
    const accepts = (cell) => JSON.stringify(acceptedValues(data, field, null, [cell]));
    const wanted = accepts(near[0]);
    near = near.filter((cell) => accepts(cell) === wanted);
  }
  return { status, taking: near, failing };
}

const indexes = (answers, least) =>
  answers.map((_, i) => i).filter((i) => answers[i] >= least);

/** The object that `explain --json` prints for a backend. */
export function explain(data, name, request) {
  const backend = data.backends[name];
  const verdict = judge(data, backend, request);
  const { status, taking, failing } = verdict;
  const refused = status === "unsupported";
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
  const { refusals } = backend;
  const asked = masks(data, backend, refusals, request);
  const met = refusals.filter((_, i) => asked.every(([, , answers]) => answers[i]));
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
    if (gpu && patterns && !patterns.some((text) => matches(text, gpu))) continue;
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
