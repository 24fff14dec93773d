// The answer: what is selected, what it stores and costs, what to type, and why not the others.

import { code, el, reference, source } from "./dom.js";
import { explain, select } from "./judge.js";
import { command, kvCacheBytes, makeRequest, whole } from "./request.js";
import { completed } from "./options.js";

const WORDS = { supported: "supported", unsupported: "not supported", unknown: "unknown" };
const DEFAULT_CONTEXT = 32768;
const number = (n) => n.toLocaleString("en-US");

/** The answer to what is chosen, as {summary, element}. There is none to what cannot be read: a
 * guess would be taken for the verdict. */
export function answer(data, root, chosen, change) {
  const { request, wrong } = makeRequest(data, completed(chosen));
  if (Object.keys(wrong).length) return faulty(wrong, change);
  const { selected: found, candidates, unranked } = select(data, request);
  const selected = request.compute_capability ? found : null; // on some GPU is no answer yet
  const first = candidates.find(({ backend }) => backend === selected);
  const tried = candidates.map(({ backend }) => backend);
  const rest = Object.keys(data.backends)
    .filter((name) => !tried.includes(name))
    .map((name) => explain(data, name, request));
  const unsure = candidates.filter(({ verdict }) => verdict === "unknown");
  const view = { data, root, chosen, request, change };
  const asking = `Choose a GPU${request.model ? "" : " and a model"}.`;
  const doubt = `Nobody has established whether ${unsure.map((v) => v.backend).join(", ")} runs this.`;
  const refusal = unsure.length ? doubt : "No backend takes this combination.";
  const none = request.compute_capability ? refusal : asking;
  const summary = selected ? `Selected: ${selected}` : none;
  const also = unranked.length ? `Runs too, but no priority lists it: ${unranked.join(", ")}.` : "";
  return {
    summary,
    element: el(
      "div",
      {},
      first ? selectedCard(view, first) : el("p", { class: "picker-none" }, none),
      also ? el("p", {}, also) : "",
      section("The others, in the order in which they are tried", view, candidates, selected),
      rest.length
        ? el(
            "details",
            { class: "picker-rest" },
            el("summary", {}, `Not tried for this: ${rest.length} more, each with its reasons`),
            rest.map((verdict) => card(view, verdict)),
          )
        : "",
    ),
  };
}

function faulty(wrong, change) {
  const told = Object.entries(wrong).map(([field, text]) => {
    const name = field.replace(/^(library|feature)\..*/, "$1");
    return [field, name, text];
  });
  const items = told.map(([field, name, text]) => {
    const drop = () => change(field, "");
    const button = el("button", { type: "button", onClick: drop }, `Leave out ${name}`);
    return el("li", { "data-fault": field }, code(name), ` ${text} `, button);
  });
  return {
    summary: told.map(([, name, text]) => `${name}: ${text}`).join(". "),
    element: el(
      "div",
      {},
      el("p", { class: "picker-none" }, "No answer yet: this cannot be read."),
      el("ul", { class: "picker-faults" }, items),
    ),
  };
}

function section(title, view, verdicts, selected) {
  const others = verdicts.filter(({ backend }) => backend !== selected);
  if (!others.length) return "";
  return el(
    "section",
    {},
    el("h3", {}, title),
    others.map((verdict) => card(view, verdict)),
  );
}

const backendLink = ({ root }, name) =>
  el("a", { href: reference(root, `backends/${name}`) }, name);

function badge(verdict) {
  return el("span", { class: `picker-badge picker-${verdict}` }, WORDS[verdict]);
}

function card(view, verdict) {
  return el(
    "article",
    { class: `picker-card picker-${verdict.verdict}` },
    el("h4", {}, backendLink(view, verdict.backend), badge(verdict.verdict)),
    verdict.reasons.length
      ? el(
          "ul",
          {},
          verdict.reasons.map(({ field, message }) =>
            el("li", { "data-field-of": field }, code(field), ` ${message}`),
          ),
        )
      : facts(view, verdict),
    verdict.verdict === "unsupported" ? notes(verdict) : "",
  );
}

function selectedCard(view, verdict) {
  const { data, chosen, request } = view;
  const model = request.model ? data.models[request.model] : null;
  return el(
    "article",
    { class: "picker-card picker-selected" },
    el("h3", {}, backendLink(view, verdict.backend), badge(verdict.verdict)),
    el("p", {}, data.backends[verdict.backend].summary),
    flags(view, verdict.backend, model),
    facts(view, verdict),
    evidence(verdict.evidence),
    memory(view, verdict, model),
    notes(verdict),
  );
}

function facts({ data, root, request }, verdict) {
  const asked = request.kv_cache_dtype;
  const stored = verdict.kv_cache_dtype;
  const rows = [];
  if (stored) rows.push(["KV cache", asked && asked !== stored ? `${asked} → ${stored}` : stored]);
  for (const [label, name] of [
    ["KV format", verdict.kv_format],
    ["Extra pool", verdict.extra_kv_format],
  ]) {
    if (!name) continue;
    const { title, bytes_per_token: bytes } = data.kv_formats[name];
    const link = el("a", { href: reference(root, `kv-formats/${name}`) }, name);
    rows.push([label, [link, `: ${title}, ${number(bytes)} B per token`]]);
  }
  if (!stored) rows.push(["KV cache", "depends on what is not chosen: the dtype, GPU or head size"]);
  if (verdict.kernel) {
    const link = el("a", { href: reference(root, `kernels/${verdict.kernel}`) }, verdict.kernel);
    rows.push(["Kernel", [link, `: ${data.kernels[verdict.kernel]}`]]);
  }
  if (verdict.padded_query_heads) {
    const text = `${request.query_heads} on one GPU, padded to ${verdict.padded_query_heads}`;
    rows.push(["Query heads", text]);
  }
  return el(
    "dl",
    { class: "picker-facts" },
    rows.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value))),
  );
}

function flags({ data, chosen, request }, backend, model) {
  // What is typed is what was judged, not the text that an address holds.
  const { block_size, tensor_parallel } = request;
  const typed = { backend, block_size, tensor_parallel };
  if (chosen.dtype) typed.dtype = request.dtype;
  if (request.kv_cache_dtype !== "auto") typed.kv_cache_dtype = request.kv_cache_dtype;
  return Object.values(data.engines)
    .filter(({ lacks }) => !lacks.includes(backend))
    .map((engine) => {
      const text = command(engine, model, typed);
      const copy = el("button", { type: "button", class: "picker-copy" }, "Copy");
      copy.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(text);
          copy.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(copy.previousSibling);
          copy.textContent = "Selected: press Ctrl+C";
        }
      });
      const label = `What to type for ${engine.title}`;
      const shown = el("pre", { tabindex: "0", "aria-label": label }, code(text));
      return el("div", { class: "picker-command" }, shown, copy);
    });
}

const CONTEXT_DIGITS = 10; // times layers and bytes, still exact

function memory({ data, chosen, change }, verdict, model) {
  const id = "picker-context";
  const usual = String(model?.max_context || DEFAULT_CONTEXT);
  const tell = (text) => {
    const { number: context, fault } = whole(data, text || usual, CONTEXT_DIGITS);
    return fault ? el("p", { role: "alert" }, fault) : cost(data, verdict, model, context);
  };
  let told = tell(chosen.context);
  const input = el("input", {
    id,
    inputmode: "numeric",
    value: chosen.context || usual,
    autocomplete: "off",
    onChange: ({ target }) => {
      const text = target.value.replace(/[\s,_]/g, "");
      const before = told;
      told = tell(text);
      before.replaceWith(told);
      change("context", text);
    },
  });
  const label = el("label", { for: id }, "Context length (tokens)");
  return el("div", { class: "picker-memory" }, label, input, told);
}

function cost(data, { bytes_per_token: bytes, extra_kv_format: extra }, model, context) {
  if (!model) return el("p", {}, "Choose a model to see the KV memory of a sequence.");
  if (!bytes) return el("p", {}, "Choose a KV-cache dtype to see the KV memory of a sequence.");
  const total = kvCacheBytes(model, context, bytes, extra && data.kv_formats[extra].bytes_per_token);
  const pools = model.kv_pools.map(({ layers, window, tokens_per_record: ratio }) => {
    const what = window ? `the last ${window} tokens` : ratio ? `1 record for ${ratio} tokens` : "";
    return `${layers} layers` + (what ? ` × ${what}` : "");
  });
  const most = model.max_context;
  const over = most && context > most ? ` The model is made for ${number(most)} tokens at most.` : "";
  return el(
    "p",
    {},
    el("strong", {}, `${(total / 2 ** 30).toFixed(2)} GiB`),
    ` of KV cache on each GPU for one sequence: ${number(context)} tokens, ${pools.join(" + ")}, `,
    `${number(bytes)} B a record = ${number(total)} B. Latent attention has one KV head, so every `,
    "GPU of a tensor-parallel group keeps all of it. Left out: rounding to pages and blocks, an ",
    "indexer's keys, the states of compressors and linear attention, draft layers, weights.",
    over,
  );
}

function notes({ notes: texts }) {
  return texts.length ? el("ul", { class: "picker-notes" }, texts.map((t) => el("li", {}, t))) : "";
}

function evidence(found) {
  if (!found) return "";
  const { status, sources, records } = found;
  const told = records.map(({ gpu, compute_capability: on, provider, date, stale }) => {
    const by = `${provider.distribution} ${provider.version}`;
    return `${stale ? "stale: " : ""}verified on ${gpu} (${on}) with ${by}, ${date}`;
  });
  const fresh = records.findIndex(({ stale }) => !stale);
  const [shown = status] = fresh < 0 ? [] : told.splice(fresh, 1);
  const count = `${sources.length} source${sources.length === 1 ? "" : "s"}`;
  return el(
    "details",
    { class: "picker-evidence" },
    el("summary", {}, `Evidence: ${shown} (${count})`),
    told.map((text) => el("p", {}, text)),
    el("ul", {}, sources.map((text) => el("li", {}, source(text)))),
  );
}
