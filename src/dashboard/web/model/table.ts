/** The rows of a table: filtered, sorted, and of these the visible ones. */
export interface Column<T> {
  readonly title: string;
  /** The sort key. */
  readonly key: (row: T) => string | number;
  readonly numeric?: boolean;
}

export interface Order {
  readonly column: number;
  readonly descending: boolean;
}

export interface Keyed<T> {
  readonly row: T;
  readonly key: string | number;
  readonly id: string;
}

/** Rows that contain every searched word, ignoring case. */
export function matching<T>(rows: Iterable<T>, search: string, textOf: (row: T) => string): T[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...rows];
  const found: T[] = [];
  for (const row of rows) {
    const text = textOf(row);
    if (words.every((word) => text.includes(word))) found.push(row);
  }
  return found;
}

/** By the column, then by id, so that equal rows do not change places. */
export function sorted<T>(rows: readonly T[], { key }: Column<T>, descending: boolean, idOf: (row: T) => string): T[] {
  const keyed: Keyed<T>[] = rows.map((row) => ({ row, key: key(row), id: idOf(row) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => sign * compare(a.key, b.key) || compare(a.id, b.id));
  return keyed.map(({ row }) => row);
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface Sight {
  readonly from: number;
  readonly to: number;
}

/** The visible rows, and some more on either side so that scrolling shows no gaps. */
export function inSight(scrollTop: number, height: number, rowHeight: number, count: number, spare = 8): Sight {
  const first = Math.floor(scrollTop / rowHeight) - spare;
  const last = Math.ceil((scrollTop + height) / rowHeight) + spare;
  const from = Math.max(0, Math.min(first, count));
  return { from, to: Math.max(from, Math.min(last, count)) };
}

/** The scroll position that makes a row visible; undefined if it is. */
export function scrollFor(row: number, scrollTop: number, height: number, rowHeight: number): number | undefined {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return undefined;
}

/** The row that a key selects. */
export function moved(row: number, key: string, count: number, page: number): number | undefined {
  const to = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, to));
}
