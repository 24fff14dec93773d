// PEP 440: the order of versions, and specifiers, as attnmatrix/versions.py has them.

const VERSION = new RegExp(
  "^v?(?:(\\d+)!)?(\\d+(?:\\.\\d+)*)" +
    "(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\\d+)?)?" +
    "(?:-(\\d+)|[-_.]?(post|rev|r)[-_.]?(\\d+)?)?" +
    "(?:[-_.]?(dev)[-_.]?(\\d+)?)?" +
    "(?:\\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$",
  "i",
);
const CLAUSE = /^(~=|==|!=|<=|>=|<|>)\s*([^\s,]+?)(\.\*)?$/;
const PRE = { alpha: "a", a: "a", beta: "b", b: "b" };
const LAST = [1];

/** An integer of any length; the same one is the same value. */
function integer(digits) {
  const number = Number(digits || 0);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Compares as Python compares tuples: item by item, then by length. */
export function compare(a, b) {
  if (!Array.isArray(a)) return a < b ? -1 : a > b ? 1 : 0;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compare(a[i], b[i]);
    if (order) return order;
  }
  return a.length - b.length;
}

/** One version, or null where the text is none. */
export function parseVersion(text) {
  const match = VERSION.exec(text.trim());
  if (!match) return null;
  const [, epoch, numbers, pre, preN, postN1, post, postN2, dev, devN, local] = match;
  const version = {
    text: text.trim(),
    epoch: integer(epoch),
    release: numbers.split(".").map(integer),
    pre: pre ? [PRE[pre.toLowerCase()] || "rc", integer(preN)] : null,
    post: post || postN1 ? integer(postN1 || postN2) : null,
    dev: dev ? integer(devN) : null,
    local: local
      ? local
          .toLowerCase()
          .split(/[-_.]/)
          .map((label) => (/^\d+$/.test(label) ? [1, integer(label), ""] : [0, 0, label]))
      : [],
  };
  const short = version.release.slice();
  while (short.length > 1 && short.at(-1) === 0) short.pop();
  const early = version.pre === null && version.post === null && version.dev !== null;
  version.public = [
    version.epoch,
    short,
    early ? [-1] : version.pre === null ? LAST : [0, ...version.pre],
    version.post === null ? -1 : version.post,
    version.dev === null ? LAST : [0, version.dev],
  ];
  version.key = [...version.public, version.local];
  return version;
}

const read = new Map();

/** The clauses of a specifier: [operator, version, whether it ends in .*]. */
export function clauses(specifier) {
  if (!read.has(specifier)) read.set(specifier, readClauses(specifier));
  return read.get(specifier);
}

function readClauses(specifier) {
  return specifier.split(",").map((text) => {
    const [, operator, bound, wildcard] = CLAUSE.exec(text.trim());
    return [operator, parseVersion(bound), Boolean(wildcard)];
  });
}

const held = new Map();

/** Whether every clause of a specifier holds for a version. */
export function contains(specifier, version) {
  const key = `${specifier} ${version.text}`;
  if (!held.has(key)) held.set(key, holdsAll(specifier, version));
  return held.get(key);
}

function holdsAll(specifier, version) {
  return clauses(specifier).every((clause) => holds(version, ...clause));
}

function holds(version, operator, bound, wildcard) {
  const order = compare(version.public, bound.public);
  switch (operator) {
    case "~=":
      return order >= 0 && hasPrefix(version, bound, 1);
    case "==":
    case "!=": {
      const equal = wildcard
        ? hasPrefix(version, bound, 0)
        : bound.local.length
          ? compare(version.key, bound.key) === 0
          : order === 0;
      return equal === (operator === "==");
    }
    case ">=":
      return order >= 0;
    case "<=":
      return order <= 0;
    case "<": {
      const early = bound.pre !== null || bound.dev !== null;
      const first = early ? bound : parseVersion(bound.text.split("+")[0] + ".dev0");
      return compare(version.key, first.key) < 0;
    }
    default:
      if (order <= 0) return false;
      if (bound.post !== null || bound.dev !== null || version.post === null) return true;
      return compare(version.public.slice(0, 3), bound.public.slice(0, 3)) !== 0;
  }
}

function hasPrefix(version, bound, drop) {
  const wanted = bound.release.slice(0, bound.release.length - drop);
  const same = wanted.every((number, i) => (version.release[i] || 0) === number);
  if (version.epoch !== bound.epoch || !same) return false;
  if (drop || bound.pre === null) return true;
  return version.pre !== null && compare(version.pre, bound.pre) === 0;
}
