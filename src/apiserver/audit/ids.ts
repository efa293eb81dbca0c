/** Ids of requests: version 4 UUIDs, made by the hundred. Each is a part of one text, which is in one piece. */
import { UUID_LENGTH, Uuids } from "#base";

const AT_ONCE = 256;

/** Not for what is kept for long: as long as one of them is, the text is. */
export class RequestIds {
  readonly #uuids = new Uuids(AT_ONCE);
  /** Those that were made together with the last one, as bytes: until it is made of others. */
  readonly letters = this.#uuids.letters;
  /** How often it was. */
  rounds = 0;
  #text = "";
  #used = AT_ONCE;
  #last = "";

  next(): string {
    if (this.#used === AT_ONCE) {
      this.#uuids.renew();
      this.#text = this.letters.toString("latin1");
      this.#used = 0;
      this.rounds += 1;
    }
    const at = this.#used++ * UUID_LENGTH;
    this.#last = this.#text.slice(at, at + UUID_LENGTH);
    return this.#last;
  }

  /** Where it begins among the letters; -1 if it is not the one that was made last. */
  placeOf(id: string): number {
    return id === this.#last ? (this.#used - 1) * UUID_LENGTH : -1;
  }
}
