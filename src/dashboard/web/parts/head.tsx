/** The head of a view: title, count, search. */
import type { ComponentChildren } from "preact";
import { focusList } from "../keys.ts";
import { usePage } from "../page.ts";
import { NamespaceField } from "./namespace-field.tsx";

interface HeadProps {
  readonly title: string;
  readonly count?: string | undefined;
  readonly search?: string;
  readonly namespaced?: boolean;
  readonly children?: ComponentChildren;
}

export function Head({ title, count, search, namespaced = true, children }: HeadProps) {
  const page = usePage();
  return (
    <div class="head">
      <h1>
        {title} {count !== undefined && <span class="count">{count}</span>}
      </h1>
      <div class="tools">
        {children}
        {search !== undefined && (
          <input
            type="search"
            placeholder={`${search}  /`}
            aria-label={search}
            value={page.search.value}
            onInput={({ currentTarget }) => {
              page.search.value = currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key === "ArrowDown" && focusList()) event.preventDefault();
              if (event.key !== "Escape") return;
              // The browser's own way empties the box without a word to the filter.
              event.preventDefault();
              if (page.search.value === "") event.currentTarget.blur();
              page.search.value = "";
            }}
          />
        )}
        {namespaced && <NamespaceField />}
      </div>
    </div>
  );
}
