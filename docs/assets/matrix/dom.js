// What the matrix page builds its elements with, and where the site begins.

/** The address of the site's root. */
export const ROOT = new URL("../../", import.meta.url);

/** An element with attributes, then children (texts stay texts). */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
