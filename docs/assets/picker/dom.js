// Elements. Text always goes in as text, never as markup.

/** An element: attributes (false and null left out; onEvent listens), then children. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2).toLowerCase(), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== ""));
  return element;
}

/** A text in <code>. */
export const code = (text) => el("code", {}, text);

/** The address of a page of this site, from the reference folder. */
export const reference = (root, path) => new URL(`reference/${path}/`, root).href;

/** A source: a link where it has an address, else its words. */
export function source(text) {
  const thread = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(text);
  const file = /^([\w.-]+\/[\w.-]+)@(\w+)\s+([\w./+-]+)(?::(\d+)(?:-\d+)?)?$/.exec(text);
  let address = null;
  if (thread) address = `https://github.com/${thread[1]}/issues/${thread[2]}`;
  else if (file) {
    address = `https://github.com/${file[1]}/blob/${file[2]}/${file[3]}`;
    if (file[4]) address += `#L${file[4]}`;
  } else if (/^https?:\/\/\S+$/.test(text)) address = text;
  return address ? el("a", { href: address }, text) : code(text);
}

/** One tooltip for all that carries data-why: shown on hover and focus, gone on Escape. */
export function tooltips(container) {
  const tip = el("div", { class: "picker-tip", hidden: true, "aria-hidden": "true" });
  document.body.append(tip);
  const hide = () => {
    tip.hidden = true;
  };
  const show = (event) => {
    const target = event.target.closest?.("[data-why]");
    if (!target) return hide();
    tip.textContent = target.dataset.why;
    tip.hidden = false;
    const box = target.getBoundingClientRect();
    const width = Math.min(tip.offsetWidth, window.innerWidth - 16);
    const left = Math.max(8, Math.min(box.left, window.innerWidth - width - 8));
    const below = box.bottom + tip.offsetHeight + 8 < window.innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? box.bottom + 4 : box.top - tip.offsetHeight - 4}px`;
  };
  container.addEventListener("mouseover", show);
  container.addEventListener("focusin", show);
  container.addEventListener("mouseleave", hide);
  container.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
