/** The positions of columns, arrows and labels of a sequence diagram. */
/** On narrow screens columns are closer: labels may exceed them. */
const NARROW = 600;
const MOST_COLUMN = 260;

export interface Geometry {
  /** The width of the times before the first column. */
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

/** Whether the columns do not fit on a narrow screen: the lines are then a list, without columns. */
export function isList(participants: number, room: number): boolean {
  return room < NARROW && geometry(participants, room).width > room;
}

/** The middle of a column. */
export function columnOf({ column, margin }: Geometry, index: number): number {
  return margin + column * (index + 0.5);
}

export type Label =
  | { readonly left: string; readonly maxWidth: string }
  | { readonly right: string; readonly maxWidth: string };

/** The visible part of a diagram. */
export interface Sight {
  readonly left: number;
  readonly width: number;
}

export interface Span {
  readonly left: number;
  readonly width: number;
  readonly isLeftward: boolean;
  /** Labels start at the arrow, on the side with more room. */
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

/** The label of an invisible arrow is at the nearest edge; undefined for a visible one. */
function atEdge({ width, margin }: Geometry, start: number, end: number, sight: Sight): Label | undefined {
  const right = sight.left + sight.width;
  const maxWidth = `${Math.max(0, sight.width - margin - 16)}px`;
  if (start > right) return { right: `${width - right + 8}px`, maxWidth };
  return end < sight.left ? { left: `${sight.left + margin}px`, maxWidth } : undefined;
}
