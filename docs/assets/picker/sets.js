// Sets of integers, as attnmatrix/intset.py has them.
// A set of integers is a list: numbers, and runs [multiple of, from, up to or null].

const isRun = Array.isArray;
const inRun = ([base, first, last], value) =>
  value % base === 0 && value >= first && (last === null || value <= last);

/** Whether a list holds a value, itself or in a run. */
export function has(list, value) {
  return list.some((item) => (isRun(item) ? inRun(item, value) : item === value));
}

/** The union of several sets, in words: values, then runs that touch joined. */
export function describe(sets) {
  let values = [];
  let runs = [];
  for (const set of sets) {
    const singles = new Set([...values, ...set.filter((item) => !isRun(item))]);
    const all = [...runs, ...set.filter(isRun)].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    runs = [];
    for (const run of all) add(run, runs, singles);
    values = [...singles].filter((v) => !runs.some((r) => inRun(r, v))).sort((a, b) => a - b);
  }
  return [...values, ...runs.map(words)];
}

function add([base, first, last], runs, singles) {
  const before = runs.at(-1);
  if (before && before[0] === base) {
    if (before[2] === null) return;
    if (first <= Math.floor(before[2] / base) * base + base) {
      runs.pop();
      first = before[1];
      last = last === null ? null : Math.max(last, before[2]);
    }
  }
  while (first > base && singles.has(first - base)) first -= base;
  while (last !== null && singles.has(Math.floor(last / base) * base + base)) {
    last = Math.floor(last / base) * base + base;
  }
  if (first === last) singles.add(first);
  else runs.push([base, first, last]);
}

function words([base, first, last]) {
  if (base === 1 && last !== null) return `${first} to ${last}`;
  const text = [base === 1 ? "any" : `multiples of ${base}`];
  if (first > base) text.push(`from ${first}`);
  if (last !== null) text.push(`up to ${last}`);
  return text.join(" ");
}
