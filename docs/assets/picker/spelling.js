// The nearest spelling, as Python's difflib finds it for attnmatrix/spelling.py.

/** A text without its case, as Python folds it: ß is ss. */
export const caseless = (text) => text.toUpperCase().toLowerCase();

/** The member of `known` that a word was most likely meant to be, or null. */
export function nearest(word, known) {
  const folded = new Map(known.map((name) => [caseless(name), name]));
  const wanted = caseless(word);
  if (folded.has(wanted)) return folded.get(wanted);
  let best = null;
  let most = 0.6;
  for (const name of folded.keys()) {
    const signs = name.length + wanted.length;
    if ((2 * Math.min(name.length, wanted.length)) / signs < most) continue; // however alike
    const score = (2 * matching(name, wanted)) / signs;
    if (score > most || (score === most && (best === null || name > best))) {
      best = name;
      most = score;
    }
  }
  return best === null ? null : folded.get(best);
}

/** Signs in the longest common run, and so on to its left and right. */
function matching(a, b) {
  let [from, to, length] = [0, 0, 0];
  let row = new Array(b.length + 1).fill(0);
  for (let i = 0; i < a.length; i++) {
    const next = new Array(b.length + 1).fill(0);
    for (let j = 0; j < b.length; j++) {
      if (a[i] !== b[j]) continue;
      next[j + 1] = row[j] + 1;
      if (next[j + 1] > length) {
        length = next[j + 1];
        [from, to] = [i - length + 1, j - length + 1];
      }
    }
    row = next;
  }
  if (!length) return 0;
  return (
    matching(a.slice(0, from), b.slice(0, to)) +
    length +
    matching(a.slice(from + length), b.slice(to + length))
  );
}
