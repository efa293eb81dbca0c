/** Bodies that are decoded in the thread of large requests, and then used here. */
import type { BodyForm, LargeBodies, ReadBody } from "../rest/body-form.ts";
import { errorOf, failureOf } from "./failure.ts";
import type { HeavyThread } from "./heavy-thread.ts";
import { joinInTurns } from "./pieces.ts";

export async function decodeElsewhere(
  thread: HeavyThread,
  { user, contentType, cbor }: Parameters<LargeBodies["decode"]>[0],
  bytes: Buffer,
  form: BodyForm,
): Promise<ReadBody> {
  const outcome = await thread.run({
    user: user.name,
    // Bytes of their own: otherwise the memory around them would be copied as well.
    begin: async () => ({ job: { type: "decode", body: new Uint8Array(bytes), contentType, cbor, form } }),
    answer: async () => ({ is: "failed", failure: failureOf(new Error("decoding asks for nothing")) }),
    warned: () => {},
  });
  if ("failure" in outcome) throw errorOf(outcome.failure);
  if (!("decoded" in outcome)) throw new Error("decoding ended with the answer of a write");
  return { value: await joinInTurns(outcome.decoded), warnings: outcome.warnings };
}
