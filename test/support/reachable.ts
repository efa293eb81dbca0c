/** What the Tab key reaches, in its order, and what has no name for a screen reader. */
export const REACHABLE = `(() => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")];
  const seen = all.filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility());
  const nameOf = (each) => [
    each.getAttribute("aria-label"), each.textContent.trim(), each.title, each.closest("label")?.textContent.trim(),
  ].find(Boolean);
  return {
    count: seen.length,
    nameless: seen.filter((each) => nameOf(each) === undefined).map((each) => each.outerHTML.slice(0, 120)),
    headings: document.querySelectorAll("h1").length,
    lists: [...document.querySelectorAll("[role=grid]")].filter((each) => !each.ariaLabel).length,
  };
})()`;

export interface Reachable {
  readonly count: number;
  readonly nameless: readonly string[];
  readonly headings: number;
  readonly lists: number;
}
