/** Where the columns, arrows and words of a sequence diagram are. */
/** Where there is little room, columns come closer: words may go beyond them. */
const NARROW = 600;
const MOST_COLUMN = 260;

export interface Geometry {
  /** Of the times, before the first column. */
  readonly margin: number;
  readonly column: number;
  readonly width: number;
}

export function geometry(participants: number, room: number): Geometry {
  const isNarrow = room < NARROW;
  const margin = isNarrow ? 46 : 66;
  const share = Math.floor((room - margin) / Math.max(1, participants));
  const column = Math.max(isNarrow ? 84 : 104, Math.min(MOST_COLUMN, share));
  return { margin, column, width: Math.max(margin + column * participants, room) };
}

/** The middle of a column. */
export function columnOf({ column, margin }: Geometry, index: number): number {
  return margin + column * (index + 0.5);
}

export type Label =
  | { readonly left: string; readonly maxWidth: string }
  | { readonly right: string; readonly maxWidth: string };

/** What of a diagram is in sight. */
export interface Sight {
  readonly left: number;
  readonly width: number;
}

export interface Span {
  readonly left: number;
  readonly width: number;
  readonly isLeftward: boolean;
  /** Words begin at the arrow, and go where there is more room. */
  readonly label: Label;
}

export function spanOf(shape: Geometry, from: number, to: number, sight?: Sight): Span {
  const [start, end] = [columnOf(shape, Math.min(from, to)), columnOf(shape, Math.max(from, to))];
  const after = shape.width - start - 8;
  const before = end - shape.margin - 8;
  const label: Label =
    (sight && atEdge(shape, start, end, sight)) ??
    (after >= before || after >= 360
      ? { left: `${start + 8}px`, maxWidth: `${after}px` }
      : { right: `${shape.width - end + 8}px`, maxWidth: `${before}px` });
  return { left: start, width: end - start, isLeftward: to < from, label };
}

/** The words of what is wholly out of sight stand at the edge beyond which it is; undefined for what is not. */
function atEdge({ width, margin }: Geometry, start: number, end: number, sight: Sight): Label | undefined {
  const right = sight.left + sight.width;
  const maxWidth = `${Math.max(0, sight.width - margin - 16)}px`;
  if (start > right) return { right: `${width - right + 8}px`, maxWidth };
  return end < sight.left ? { left: `${sight.left + margin}px`, maxWidth } : undefined;
}
