/** What a heavy write needs the serving thread for: admission, rights, allocation and the store. */
import type { Kind, KubeObject, ObjectMeta } from "#api";
import { isStoreError, type WriteOutcome } from "#store";
import { StoredObject } from "../cache/stored-object.ts";
import { asBuffer } from "../encode/as-buffer.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { shown } from "../rest/read/fresh.ts";
import { admissionAttributes, guarded } from "../rest/request-parts.ts";
import { demandLife, type RestRequest } from "../rest/rest-request.ts";
import type { Allocation } from "../rest/server-context.ts";
import { asStatus } from "../rest/store-call.ts";
import type { SentErrors } from "./failure.ts";
import { cutInTurns, joinInTurns, type Pieces, samePieces } from "./pieces.ts";
import type { Answer, AskedWrite, Question, StoredValue } from "./protocol.ts";

type Asking<D extends Question["do"]> = Extract<Question, { readonly do: D }>;

export class Effects {
  readonly #request: RestRequest;
  readonly #errors: SentErrors;
  /** The object that is there, by its revision: it is sent once. */
  #old: { readonly revision: number; readonly object: KubeObject } | undefined;
  #allocation: Allocation | undefined;

  constructor(request: RestRequest, errors: SentErrors) {
    this.#request = request;
    this.#errors = errors;
  }

  async answer(question: Question): Promise<Answer> {
    try {
      return await this.#do(question);
    } catch (error) {
      return { is: "failed", failure: this.#errors.failureOf(error) };
    }
  }

  /** The thread has ended before the write has: nobody else gives back what was allocated. */
  async abandoned(): Promise<void> {
    await this.#allocation?.giveBack();
    this.#allocation = undefined;
  }

  async #do(question: Question): Promise<Answer> {
    const { context, resource, received } = this.#request;
    switch (question.do) {
      case "received":
        received?.((await joinInTurns(question.object)) as unknown as AnyDraft, resource.kind as Kind);
        return { is: "done" };
      case "admit":
        return this.#admit(question);
      case "guard": {
        const { object, old } = await this.#writeOf(question.write);
        await guarded(this.#request, object, old);
        return { is: "done" };
      }
      case "mayCreate":
        await context.access.mayCreate(this.#request);
        return { is: "done" };
      case "allocate":
        return this.#allocate(question.write);
      case "keep":
      case "giveBack": {
        const allocation = this.#allocation;
        this.#allocation = undefined;
        await (question.do === "keep" ? allocation?.keep() : allocation?.giveBack());
        return { is: "done" };
      }
      case "release":
        await this.#allocator()?.release((await joinInTurns(question.object)) as unknown as KubeObject);
        return { is: "done" };
      case "store":
        return this.#store(question);
    }
  }

  async #admit({ phase, write }: Asking<"admit">): Promise<Answer> {
    const { context, resource, namespace } = this.#request;
    const { object, old } = await this.#writeOf(write);
    const operation = old === undefined ? "CREATE" : "UPDATE";
    const attributes = admissionAttributes(this.#request, operation, write.dryRun, object, old);
    // Asked when it is about to run: a webhook may have been added meanwhile.
    if (write.isHead && context.admission.looks?.(attributes, phase) !== false) return { is: "whole" };
    await context.admission[phase](attributes);
    if (phase === "mutate") return write.isHead ? { is: "done" } : changedOr(write.object, object);
    const isTaken = operation === "CREATE" && write.dryRun;
    const suffix = resource.suffix(namespace, object.metadata.name ?? "");
    return isTaken && resource.cache.get(suffix) !== undefined ? { is: "taken", suffix } : { is: "done" };
  }

  async #allocate(write: AskedWrite): Promise<Answer> {
    const { object: draft, old } = await this.#writeOf(write);
    this.#allocation = await this.#allocator()?.allocate({ draft: draft as never, old, dryRun: write.dryRun });
    return changedOr(write.object, draft);
  }

  async #store({ key, value, form, expected, metadata }: Asking<"store">): Promise<Answer> {
    const { context, resource, witness } = this.#request;
    const object = form && ((await joinInTurns(form)) as unknown as KubeObject);
    demandLife(this.#request);
    const bytes = value && asBuffer(value);
    let outcome: WriteOutcome;
    try {
      const { store } = context;
      if (bytes === undefined) outcome = await store.delete(key, expected ?? 0);
      else outcome = await (expected === undefined ? store.create(key, bytes) : store.update(key, bytes, expected));
    } catch (error) {
      // A write that may have happened may use what it took: see allocating.ts.
      if (isStoreError(error) && error.maybeApplied) this.#allocation = undefined;
      throw asStatus(error);
    }
    if (!outcome.ok) return { is: "outrun", current: outcome.current && this.#valueOf(outcome.current) };
    const { revision } = outcome;
    if (bytes !== undefined && object !== undefined) {
      const stored = StoredObject.written({ key, value: bytes, revision }, object);
      resource.cache.wrote(stored);
      resource.forms?.wrote(stored);
    }
    const change = bytes === undefined ? "DELETED" : expected === undefined ? "ADDED" : "MODIFIED";
    witness?.wrote(metadata as ObjectMeta, revision, change);
    await shown(context, revision);
    return { is: "written", revision };
  }

  /** Bytes of its own, to be copied without the memory around them. */
  #valueOf({ key, revision, value }: { key: string; revision: number; value: Buffer }): StoredValue {
    const isOutdated = this.#request.context.isOutdated?.(key) === true;
    return { key, revision, value: new Uint8Array(value), isOutdated };
  }

  #allocator() {
    const { context, resource } = this.#request;
    return context.allocators.get(`${resource.groupResource.group}/${resource.groupResource.resource}`);
  }

  async #writeOf({
    isHead,
    object,
    oldRevision,
    old,
  }: AskedWrite): Promise<{ object: KubeObject; old: KubeObject | undefined }> {
    const present = old && ((await joinInTurns(old)) as unknown as KubeObject);
    if (!isHead && present !== undefined && oldRevision !== undefined)
      this.#old = { revision: oldRevision, object: present };
    const known = this.#old?.revision === oldRevision ? this.#old?.object : undefined;
    return {
      object: (await joinInTurns(object)) as unknown as KubeObject,
      old: oldRevision === undefined ? undefined : (present ?? known),
    };
  }
}

async function changedOr(sent: Pieces, object: KubeObject): Promise<Answer> {
  const pieces = await cutInTurns(object);
  return samePieces(sent, pieces) ? { is: "done" } : { is: "changed", object: pieces };
}
