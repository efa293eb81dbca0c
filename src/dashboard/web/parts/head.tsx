/** The head of a view: title, count, search. */
import type { ComponentChildren } from "preact";
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
              if (event.key === "Escape") event.currentTarget.blur();
            }}
          />
        )}
        {namespaced && <NamespaceField />}
      </div>
    </div>
  );
}
