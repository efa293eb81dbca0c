/**
 * The jobs of the thread: bodies are decoded, writes run. Each write runs the steps of `rest/write` with a context that
 * has the object that is there, and asks the serving thread for everything else.
 */
import {
  builtIn,
  defaultFeatures,
  disabledFields,
  type Kind,
  keyOf,
  optionalKinds,
  parseJson,
  withoutPrivileged,
} from "#api";
import { silentLogger, systemRandom, VirtualClock } from "#base";
import { ResourceCache } from "../cache/resource-cache.ts";
import { noConverter } from "../custom-resources/converter.ts";
import { asDefinition, nameOf } from "../custom-resources/definition.ts";
import { ServedDefinition } from "../custom-resources/served-definitions.ts";
import { answerObject } from "../encode/answers.ts";
import { asBuffer } from "../encode/as-buffer.ts";
import { isStream } from "../http/exchange.ts";
import { Resource } from "../rest/resource.ts";
import { Resources } from "../rest/resources.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { create } from "../rest/write/create.ts";
import { patch } from "../rest/write/patch.ts";
import { readHere } from "../rest/write/read-body.ts";
import { update } from "../rest/write/update.ts";
import { Asker } from "./asker.ts";
import { entryOf } from "./bytes.ts";
import { cut } from "./pieces.ts";
import type { DecodedPieces, DecodeJob, FromThread, HeavySetUp, Job, Reply, Written } from "./protocol.ts";
import { jobStore, ReachedFeed } from "./remote-store.ts";

export type Send = (message: FromThread) => void;

const VERBS = { create, update, patch };

export async function decoded({ body, form, ...sent }: DecodeJob): Promise<DecodedPieces> {
  const { value, warnings } = readHere(sent, asBuffer(body), form);
  return { decoded: cut(value), warnings };
}

export class HeavyJobs {
  readonly #setUp: HeavySetUp;
  readonly #send: Send;
  readonly #resources: Resources;
  readonly #defined = new Map<string, ServedDefinition>();
  readonly #askers = new Map<number, Asker>();
  readonly #features: ServerContext["features"];

  constructor(setUp: HeavySetUp, send: Send) {
    this.#setUp = setUp;
    this.#send = send;
    this.#resources = new Resources(new ReachedFeed());
    for (const kind of kindsOf(setUp)) this.#resources.add(kind);
    const on = new Set(setUp.gates);
    this.#features = { ...defaultFeatures, enabled: (gate) => on.has(gate) };
  }

  define(text: string): void {
    const definition = asDefinition(parseJson(text) as never);
    const name = nameOf(definition);
    this.#defined.get(name)?.uninstall();
    const served = new ServedDefinition(definition, noConverter);
    served.install(this.#resources, this.#resources.follow(served.prefix));
    this.#defined.set(name, served);
  }

  replied(reply: Reply): void {
    this.#askers.get(reply.id)?.replied(reply.answer);
  }

  async run(job: Job): Promise<Written> {
    const asker = new Asker(job.id, this.#send);
    this.#askers.set(job.id, asker);
    try {
      const { created, stored } = await VERBS[job.verb](this.#request(job, asker));
      const resource = this.#find(job);
      const query = new URLSearchParams(job.query);
      const answer = answerObject(created ? 201 : 200, stored, { resource, query, now: job.nowMs, format: job.format });
      if (isStream(answer)) throw new Error("a write was answered with a stream");
      const body = new Uint8Array(Buffer.concat(answer.body));
      return { status: answer.status, headers: answer.headers, body };
    } finally {
      this.#askers.delete(job.id);
    }
  }

  #find({ group, version, plural }: Job): Resource {
    const found = this.#resources.find(group, version, plural);
    if (found === undefined) throw new Error(`${plural}.${version}.${group} is not known here`);
    return found;
  }

  #request(job: Job, asker: Asker): RestRequest {
    const { kind, cache, forms } = this.#find(job);
    const own = new ResourceCache(cache.prefix);
    const resource = new Resource(kind, own, forms);
    const { current } = job;
    asker.outdated = current?.isOutdated === true;
    asker.taken = (suffix) =>
      own.replace([{ key: cache.prefix + suffix, createRevision: 1, revision: 1, value: Buffer.from("{}") }], 1);
    if (current !== undefined) own.replace([entryOf(current)], current.revision);
    const body = asBuffer(job.body);
    return {
      context: this.#context(job, asker),
      resource,
      namespace: job.namespace,
      name: job.name,
      subresource: job.subresource,
      user: job.user,
      userAgent: job.userAgent,
      query: new URLSearchParams(job.query),
      contentType: job.contentType,
      cbor: this.#features.enabled("CBORServingAndStorage"),
      body: async () => body,
      warn: (message) => this.#send({ type: "warned", id: job.id, message }),
      // Only admission annotates, which runs in the serving thread.
      annotate: () => {},
      received: job.asks.received ? (draft) => asker.tell({ do: "received", object: cut(draft) }) : undefined,
    };
  }

  #context(job: Job, asker: Asker): ServerContext {
    const { group, plural, asks } = job;
    const name = `${group}/${plural}`;
    return {
      store: jobStore(asker),
      feed: new ReachedFeed(),
      clock: new VirtualClock(job.nowMs),
      random: systemRandom(),
      log: silentLogger,
      features: this.#features,
      disabledFields: (kind) => disabledFields(this.#features, keyOf(kind)),
      newUid: () => job.uid,
      sharedStore: false,
      isOutdated: () => asker.outdated,
      garbageCollection: this.#setUp.garbageCollection,
      admission: asker.admission,
      access: { mayCreate: () => asker.mayCreate(), guards: asks.guard ? new Map([[name, asker.guard]]) : new Map() },
      allocators: asks.allocate ? new Map([[name, asker.allocator]]) : new Map(),
    };
  }
}

function kindsOf({ allowPrivileged }: HeavySetUp): readonly Kind[] {
  const kinds = [...builtIn, ...optionalKinds];
  return allowPrivileged ? kinds : withoutPrivileged(kinds);
}
