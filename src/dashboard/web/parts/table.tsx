/**
 * A table of any length: only visible rows exist. Moves by keys, sorts by its heads, opens a row with Enter.
 *
 * 1. A change of the rows costs one pass over them and one drawing of those in sight, once per frame.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Column, inSight, moved, type Order, scrollFor, sorted } from "../model/table.ts";

export interface TableColumn<T> extends Column<T> {
  /** As in CSS grid, such as `2fr` or `90px`. */
  readonly width: string;
  /** Hidden on narrow screens. */
  readonly wide?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

export interface TableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly TableColumn<T>[];
  readonly idOf: (row: T) => string;
  readonly hrefOf?: (row: T) => string | undefined;
  readonly order?: Order;
  readonly empty: string;
}

const ROW_HEIGHT = 36;

export function Table<T>({ label, rows, columns, idOf, hrefOf, order: first, empty }: TableProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const order = useSignal<Order>(first ?? { column: 0, descending: false });
  const place = useSignal({ top: 0, height: 600 });
  const chosen = useSignal<string | undefined>(undefined);
  const frame = useRef(0);

  const column = columns[order.value.column] ?? columns[0];
  const { descending } = order.value;
  // Scrolling does not sort again.
  const shown = useMemo(
    () => (column === undefined ? rows : sorted(rows, column, descending, idOf)),
    [rows, column, descending, idOf],
  );
  const { from, to } = inSight(place.value.top, place.value.height, ROW_HEIGHT, shown.length);
  const at = chosen.value === undefined ? -1 : shown.findIndex((row) => idOf(row) === chosen.value);

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () => {
      frame.current = 0;
      place.value = { top: element.scrollTop, height: element.clientHeight };
    };
    const soon = () => {
      if (frame.current === 0) frame.current = requestAnimationFrame(measure);
    };
    const resized = new ResizeObserver(soon);
    resized.observe(element);
    element.addEventListener("scroll", soon, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", soon);
      cancelAnimationFrame(frame.current);
    };
  }, [place]);

  const onKeyDown = (event: KeyboardEvent) => {
    const element = box.current;
    if (element === null) return;
    const row = shown[at];
    const href = row === undefined ? undefined : hrefOf?.(row);
    if (event.key === "Enter" && href !== undefined) location.hash = href;
    const page = Math.floor(element.clientHeight / ROW_HEIGHT) - 2;
    const next = moved(at, event.key, shown.length, page);
    const target = next === undefined ? undefined : shown[next];
    if (next === undefined || target === undefined) return;
    event.preventDefault();
    chosen.value = idOf(target);
    const top = scrollFor(next, element.scrollTop, element.clientHeight - ROW_HEIGHT, ROW_HEIGHT);
    if (top !== undefined) element.scrollTop = top;
  };

  const widths = {
    "--columns": columns.map(({ width }) => width).join(" "),
    "--columns-narrow": columns
      .filter(({ wide }) => wide !== true)
      .map(({ width }) => width)
      .join(" "),
  };
  return (
    <div
      ref={box}
      class="table"
      role="grid"
      aria-label={label}
      aria-rowcount={shown.length + 1}
      tabIndex={0}
      aria-activedescendant={at >= from && at < to ? `row-${at}` : undefined}
      onKeyDown={onKeyDown}
      style={widths}
    >
      <div class="table-head" role="row">
        {columns.map(({ title, numeric, wide }, index) => (
          <div
            key={title}
            role="columnheader"
            aria-sort={order.value.column === index ? (order.value.descending ? "descending" : "ascending") : "none"}
            class={classes(numeric, wide)}
          >
            <button
              type="button"
              tabIndex={-1}
              onClick={() => {
                const again = order.value.column === index;
                order.value = { column: index, descending: again && !order.value.descending };
              }}
            >
              {title}
              <span aria-hidden="true">
                {order.value.column === index ? (order.value.descending ? " ↓" : " ↑") : ""}
              </span>
            </button>
          </div>
        ))}
      </div>
      <div class="table-body" style={{ height: `${shown.length * ROW_HEIGHT}px` }}>
        {shown.slice(from, to).map((row, index) => {
          const href = hrefOf?.(row);
          return (
            <div
              key={idOf(row)}
              id={`row-${from + index}`}
              role="row"
              aria-rowindex={from + index + 2}
              aria-selected={from + index === at}
              class={href === undefined ? "row" : "row opens"}
              style={{ transform: `translateY(${(from + index) * ROW_HEIGHT}px)` }}
              onClick={() => {
                chosen.value = idOf(row);
                if (href !== undefined && String(getSelection()) === "") location.hash = href;
              }}
            >
              {columns.map(({ title, cell, numeric, wide }) => (
                <div key={title} role="gridcell" class={classes(numeric, wide)}>
                  {cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {shown.length === 0 && <p class="empty">{empty}</p>}
    </div>
  );
}

function classes(numeric: boolean | undefined, wide: boolean | undefined): string {
  return `${numeric === true ? "num" : ""} ${wide === true ? "wide" : ""}`.trim();
}
