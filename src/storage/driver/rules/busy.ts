/** At most one call at a time for a volume, snapshot or name: others are told to try again, as CSI asks for. */
import { GrpcError } from "#grpc";

export class Busy {
  readonly #keys = new Set<string>();

  /** Keys are held until the work has ended, well or not. */
  async hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const wanted = [...new Set(keys)];
    const taken = wanted.find((key) => this.#keys.has(key));
    if (taken !== undefined) throw new GrpcError("ABORTED", `an operation for ${taken} is in progress`);
    for (const key of wanted) this.#keys.add(key);
    try {
      return await work();
    } finally {
      for (const key of wanted) this.#keys.delete(key);
    }
  }
}
