/** Samples of one combination of labels, and their text format. */

export interface Sample {
  write(lines: string[]): void;
}

/** Only ever rises. */
export class Counter implements Sample {
  #value = 0;
  readonly #series: string;

  constructor(name: string, labels: string) {
    this.#series = series(name, labels);
  }

  get value(): number {
    return this.#value;
  }

  inc(by = 1): void {
    this.#value += by;
  }

  /** For totals that are kept elsewhere and only read here. */
  setTotal(value: number): void {
    this.#value = value;
  }

  write(lines: string[]): void {
    lines.push(`${this.#series} ${number(this.#value)}`);
  }
}

export class Gauge implements Sample {
  #value = 0;
  readonly #series: string;

  constructor(name: string, labels: string) {
    this.#series = series(name, labels);
  }

  get value(): number {
    return this.#value;
  }

  set(value: number): void {
    this.#value = value;
  }

  inc(by = 1): void {
    this.#value += by;
  }

  dec(by = 1): void {
    this.#value -= by;
  }

  write(lines: string[]): void {
    lines.push(`${this.#series} ${number(this.#value)}`);
  }
}

export class Histogram implements Sample {
  readonly #bounds: Float64Array;
  /** One for each bound and one for what lies above them all; summed up only when written. */
  readonly #counts: Float64Array;
  #sum = 0;
  readonly #bucketSeries: readonly string[];
  readonly #sumSeries: string;
  readonly #countSeries: string;

  constructor(name: string, labels: string, bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds);
    this.#counts = new Float64Array(bounds.length + 1);
    const before = labels === "" ? "" : `${labels},`;
    this.#bucketSeries = [...bounds, Infinity].map((bound) =>
      series(`${name}_bucket`, `${before}le="${number(bound)}"`),
    );
    this.#sumSeries = series(`${name}_sum`, labels);
    this.#countSeries = series(`${name}_count`, labels);
  }

  /** `times`: the weight of a sampled observation. */
  observe(value: number, times = 1): void {
    const bounds = this.#bounds;
    // Linear from the lowest bound: most observations are in one of the first buckets.
    let at = 0;
    while (at < bounds.length && !(value <= (bounds[at] ?? Infinity))) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + times;
    this.#sum += value * times;
  }

  write(lines: string[]): void {
    let total = 0;
    for (const [i, bucket] of this.#bucketSeries.entries()) {
      total += this.#counts[i] ?? 0;
      lines.push(`${bucket} ${total}`);
    }
    lines.push(`${this.#sumSeries} ${number(this.#sum)}`, `${this.#countSeries} ${total}`);
  }
}

function series(name: string, labels: string): string {
  return labels === "" ? name : `${name}{${labels}}`;
}

function number(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return String(value);
}
