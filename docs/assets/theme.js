// The theme leaves its search dialog without a name for screen readers.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
