// What each control offers, and why an option cannot work with the rest of what is chosen.

import { candidates, explain, judge } from "./judge.js";
import { makeRequest } from "./request.js";

const GPUS_SHARING = [1, 2, 4, 8, 16, 32];
const BLOCKS_ASKED = [16, 32, 64, 128, 256];

/** The groups of options: {field, legend, options: [{value, label, small}], filter}. */
export function groups(data) {
  const cells = Object.values(data.backends).flatMap((backend) => backend.cells);
  const single = cells.flatMap((cell) => cell.block_sizes.filter(Number.isInteger));
  const blocks = [...new Set([...BLOCKS_ASKED, ...single])].sort((a, b) => a - b);
  const spellings = Object.values(data.backends).flatMap((b) => b.supported_kv_cache_dtypes);
  const plain = (value) => ({ value: String(value), label: String(value) });
  const any = { value: "", label: "any" };
  return [
    {
      field: "gpu",
      legend: "GPU",
      filter: "Search GPUs, or type a compute capability",
      options: [
        any,
        ...Object.entries(data.gpus).map(([name, small]) => ({ value: name, label: name, small })),
        ...Object.entries(data.devices).map(([value, { title }]) => ({ value, label: title })),
      ],
    },
    {
      field: "model",
      legend: "Model",
      filter: "Search models",
      options: [
        any,
        ...Object.entries(data.models).map(([name, { aliases }]) => ({
          value: name,
          label: name,
          small: aliases.join(", "),
        })),
      ],
    },
    {
      field: "tensor_parallel",
      legend: "Tensor parallel (GPUs that share the heads)",
      options: GPUS_SHARING.map((n) => ({ value: n === 1 ? "" : String(n), label: String(n) })),
    },
    {
      field: "kv_cache_dtype",
      legend: "KV-cache dtype",
      options: [{ value: "any", label: "any" }, ...[...new Set(spellings)].map(plain)],
    },
    {
      field: "dtype",
      legend: "Model dtype",
      options: [{ value: "", label: "the model's" }, ...data.dtypes.map(plain)],
    },
    {
      field: "block_size",
      legend: "Page size (tokens a block)",
      options: [{ value: "", label: "the engine's" }, ...blocks.map(plain)],
    },
  ];
}

/** The chosen texts as a request takes them: KV-cache dtype auto unless another is chosen. */
export function completed(chosen) {
  const spelling = chosen.kv_cache_dtype || "auto";
  return { ...chosen, kv_cache_dtype: spelling === "any" ? "" : spelling };
}

/** Why an option leaves no backend, or null where one remains. faults: what is wrong without it. */
export function why(data, chosen, field, value, faults) {
  const { request, wrong } = makeRequest(data, completed({ ...chosen, [field]: value }));
  const added = Object.keys(wrong).find((name) => name === field || !(name in faults));
  if (added) return wrong[added];
  const judged = candidates(data, request).map((name) => [
    name,
    judge(data, data.backends[name], request),
  ]);
  if (!judged.length || judged.some(([, { status }]) => status === "supported")) return null;
  judged.sort(([, a], [, b]) => a.failing.length - b.failing.length);
  const nearest = explain(data, judged[0][0], request);
  return `${nearest.backend}: ${nearest.reasons.map(({ message }) => message).join("; ")}`;
}
