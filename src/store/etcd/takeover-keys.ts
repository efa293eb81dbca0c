/** Keys of the store's own about a state that was taken over from another store: see import.ts. */
import { StoreError } from "../model/errors.ts";
import type { Connection } from "./connection.ts";
import type { MovedKeys } from "./moved-keys.ts";

export function shiftKey(moved: MovedKeys | undefined): Buffer {
  return Buffer.from(`\0k8ts/shift${moved?.to ?? ""}`);
}

export function markKey(moved: MovedKeys | undefined): Buffer {
  return Buffer.from(`\0k8ts/takeover${moved?.to ?? ""}`);
}

/** By how much the revisions of this etcd are shifted: 0, unless it took over another store's state. */
export async function revisionShift(
  connection: Connection,
  moved: MovedKeys | undefined,
  deadline: number,
): Promise<number> {
  const { rpc } = connection;
  const read = async (key: Buffer) => (await connection.read(rpc.range, { key }, deadline)).kvs[0]?.value.toString();
  const [shift, mark] = await Promise.all([read(shiftKey(moved)), read(markKey(moved))]);
  if (mark !== undefined) {
    const message =
      "This etcd is being filled from another store, or that was interrupted: finish `k8ts migrate` first.";
    throw new StoreError("Corrupt", message);
  }
  const number = Number(shift ?? 0);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new StoreError("Corrupt", `The shift of this etcd's revisions is no number: ${shift}.`);
  return number;
}
