/**
 * The highest value that a number had within the last whole second: a scrape every few seconds would see an instant
 * only. No timer is needed: seconds turn when the number changes or is read.
 */
export class PeakOfSecond {
  #second = 0;
  #value = 0;
  #peak = 0;
  #before = 0;

  add(by: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#value += by;
    if (this.#value > this.#peak) this.#peak = this.#value;
  }

  at(nowMs: number): number {
    this.#turn(nowMs);
    return this.#before;
  }

  #turn(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    // Whole seconds without a change have the value that the last one ended with.
    this.#before = second === this.#second + 1 ? this.#peak : this.#value;
    this.#second = second;
    this.#peak = this.#value;
  }
}
