/** A part of a whole. */
export function Bar({
  value,
  of,
  words,
  second,
}: {
  readonly value: number;
  readonly of: number;
  readonly words: string;
  readonly second?: number;
}) {
  const percent = (part: number) => `${of === 0 ? 0 : Math.min(100, (100 * part) / of)}%`;
  return (
    <span class="bar-box" title={words}>
      <span class="bar" role="img" aria-label={words}>
        {second !== undefined && <i class="second" style={{ width: percent(second) }} />}
        <i style={{ width: percent(value) }} />
      </span>
      <span class="bar-words">{words}</span>
    </span>
  );
}
