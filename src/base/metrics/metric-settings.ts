/** What an administrator decides about metrics: which are shown, and which values their labels may have. */

export interface MetricsSettings {
  /** Names of metrics that are not shown. */
  readonly disabled?: readonly string[] | undefined;
  /** By metric, then by label. Labels that are not named may have any value. */
  readonly allowed?: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> | undefined;
  /** Shows what is hidden because it is deprecated. Disabled metrics stay so. */
  readonly showsHidden?: boolean | undefined;
}

const UNEXPECTED = "unexpected";

/** Bounds the values of a family's labels: any other value counts as one and the same. */
export class LabelLimits {
  readonly #allowed: readonly (ReadonlySet<string> | undefined)[];
  readonly #onUnexpected: () => void;

  private constructor(allowed: readonly (ReadonlySet<string> | undefined)[], onUnexpected: () => void) {
    this.#allowed = allowed;
    this.#onUnexpected = onUnexpected;
  }

  /** Undefined if no label is limited: then looking a child up costs nothing more. */
  static of(
    labels: readonly string[],
    allowed: ReadonlyMap<string, ReadonlySet<string>> | undefined,
    onUnexpected: () => void,
  ): LabelLimits | undefined {
    const byLabel = labels.map((label) => allowed?.get(label));
    return byLabel.every((values) => values === undefined) ? undefined : new LabelLimits(byLabel, onUnexpected);
  }

  /** `counts`: each value that is not allowed is reported. */
  within(values: readonly string[], counts: boolean): readonly string[] {
    return values.map((value, i) => {
      if (this.#allowed[i]?.has(value) !== false) return value;
      if (counts) this.#onUnexpected();
      return UNEXPECTED;
    });
  }
}
