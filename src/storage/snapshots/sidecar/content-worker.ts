/** Carries out what was decided about a content: asks the driver, and plans what follows from its answer. */
import type { ControllerContext, Plan } from "#controllers";
import type { CsiDriver } from "../../csi/index.ts";
import { snapshotKinds, type VolumeSnapshotContent } from "../objects/kinds.ts";
import { annotations, finalizers, nodeMark } from "../objects/names.ts";
import { driverParameters, secretReference } from "../objects/secret-reference.ts";
import { annotated, changedFinalizers, oneStep, warning } from "../objects/writes.ts";
import { isFinal, messageOf, type SnapshotAnswer } from "./answers.ts";
import { createSnapshot, deleteSnapshot, findSnapshot, type Texts } from "./calls.ts";
import type { Action } from "./decide.ts";
import { driverOn, type FindVolume, knownNode, searched } from "./locate.ts";
import { type SnapshotterOptions, TIMEOUT_MS } from "./options.ts";
import { answered, deleted, refused } from "./outcome.ts";
import { annotatedSecret, readSecret } from "./secrets.ts";
import { volumesOfDriver } from "./volumes.ts";

const { VolumeSnapshotContent: Content, VolumeSnapshotClass: Class } = snapshotKinds;

const SECRET = { name: annotations.secretName, namespace: annotations.secretNamespace };

/** `isDone`: false if the driver has to be asked again. */
export interface Acted {
  readonly plan: Plan | undefined;
  readonly isDone: boolean;
}

export const done = (plan?: Plan): Acted => ({ plan, isDone: true });

export class ContentWorker {
  readonly #options: SnapshotterOptions;
  readonly #context: ControllerContext;
  readonly #volumeOf: FindVolume;

  constructor(options: SnapshotterOptions, context: ControllerContext) {
    this.#options = options;
    this.#context = context;
    this.#volumeOf = volumesOfDriver(context, options.controllers.driverName);
    context.cache(Class);
  }

  isOurs(content: VolumeSnapshotContent): boolean {
    const { onlyNode } = this.#options;
    return onlyNode === undefined || this.#nodeOf(content) === onlyNode;
  }

  async act(content: VolumeSnapshotContent, action: Action, signal: AbortSignal): Promise<Acted> {
    switch (action.kind) {
      case "nothing":
        return done();
      case "release":
        return done(oneStep(changedFinalizers(Content, content, { remove: [finalizers.content] })));
      case "unmark":
        return done(oneStep(annotated(Content, content, { [annotations.beingCreated]: null })));
      case "mark":
        return done(oneStep(this.#marking(content)));
      case "create":
        return this.#create(content, action, signal);
      case "check":
        return this.#check(content, action.handle, signal);
      case "delete":
        return this.#delete(content, action.handle, signal);
    }
  }

  /** The node is written down: the volume may be gone before its snapshots are. */
  #marking(content: VolumeSnapshotContent) {
    const marks = { [annotations.beingCreated]: "yes", ...nodeMark(this.#nodeOf(content)) };
    return annotated(Content, content, marks);
  }

  async #create(
    content: VolumeSnapshotContent,
    { volumeHandle, isFirst }: Extract<Action, { kind: "create" }>,
    signal: AbortSignal,
  ): Promise<Acted> {
    try {
      const { parameters, secrets } = await this.#input(content, signal);
      const driver = driverOn(this.#nodeOf(content), this.#options.controllers);
      const { namePrefix = "snapshot" } = this.#options;
      const name = `${namePrefix}-${content.spec.volumeSnapshotRef.uid}`;
      const call = { signal, timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS };
      const request = { name, volumeHandle, parameters, secrets };
      const answer = await createSnapshot(driver, request, call).catch((error: unknown) => {
        const quoted = JSON.stringify(messageOf(error));
        throw new CallError(`failed to take snapshot of the volume ${volumeHandle}: ${quoted}`, error);
      });
      return { plan: answered(content, answer, this.#now()), isDone: answer.isReady };
    } catch (error) {
      return this.#failed(content, isFirst, error, signal);
    }
  }

  async #check(content: VolumeSnapshotContent, handle: string, signal: AbortSignal): Promise<Acted> {
    const { controllers, timeoutMs = TIMEOUT_MS } = this.#options;
    try {
      const secrets = await this.#listSecrets(content, signal);
      const ask = (driver: CsiDriver) => findSnapshot(driver, handle, secrets, { signal, timeoutMs });
      const node = this.#nodeOf(content);
      if (node !== undefined || controllers.nodes() === undefined) {
        const answer = await ask(driverOn(node, controllers)).catch((error: unknown) => this.#unlisted(content, error));
        return this.#checked(content, answer);
      }
      const { node: where, found } = await searched(controllers, ask, signal).catch((error: unknown) =>
        this.#unlisted(content, error),
      );
      const { plan, isDone } = this.#checked(content, found);
      return {
        plan: { ...plan, steps: [[annotated(Content, content, nodeMark(where))], ...(plan?.steps ?? [])] },
        isDone,
      };
    } catch (error) {
      return this.#failed(content, false, error, signal);
    }
  }

  #checked(content: VolumeSnapshotContent, answer: SnapshotAnswer): Acted {
    return { plan: answered(content, answer, this.#now()), isDone: answer.isReady };
  }

  #unlisted(content: VolumeSnapshotContent, error: unknown): never {
    const quoted = JSON.stringify(messageOf(error));
    throw new CallError(`failed to list snapshot for content ${content.metadata.name}: ${quoted}`, error);
  }

  async #delete(content: VolumeSnapshotContent, handle: string, signal: AbortSignal): Promise<Acted> {
    const { controllers, timeoutMs = TIMEOUT_MS } = this.#options;
    let words = "Failed to get snapshot credentials";
    try {
      const secrets = await annotatedSecret(this.#context.client, content, SECRET, "snapshot content", signal);
      words = "Failed to delete snapshot";
      const driver = driverOn(this.#nodeOf(content), controllers);
      await deleteSnapshot(driver, handle, secrets, { signal, timeoutMs });
      return done(deleted(content));
    } catch (error) {
      if (signal.aborted) throw error;
      this.#context.log.warn("a snapshot could not be deleted and is tried again", {
        content: content.metadata.name,
        error,
      });
      return { plan: { events: [warning(content, "SnapshotDeleteError", words)] }, isDone: false };
    }
  }

  async #input(content: VolumeSnapshotContent, signal: AbortSignal): Promise<{ parameters: Texts; secrets: Texts }> {
    const { name = "" } = content.metadata;
    try {
      const { volumeSnapshotClassName: className, volumeSnapshotRef: ref } = content.spec;
      if (className === undefined) throw new Error(`failed to take snapshot ${name} without a snapshot class`);
      const { parameters = {} } = this.#classOf(className);
      const secrets = await annotatedSecret(this.#context.client, content, SECRET, "snapshot content", signal);
      const own = driverParameters(parameters);
      if (!own.ok) throw new Error(`failed to remove CSI Parameters of prefixed keys: ${own.error}`);
      if (this.#options.extraCreateMetadata !== true) return { parameters: own.value, secrets };
      const names = {
        "csi.storage.k8s.io/volumesnapshot/name": ref.name ?? "",
        "csi.storage.k8s.io/volumesnapshot/namespace": ref.namespace ?? "",
        "csi.storage.k8s.io/volumesnapshotcontent/name": name,
      };
      return { parameters: { ...own.value, ...names }, secrets };
    } catch (error) {
      if (signal.aborted) throw error;
      const quoted = JSON.stringify(messageOf(error));
      const words = `failed to get input parameters to create snapshot for content ${name}: ${quoted}`;
      throw new Error(words, { cause: error });
    }
  }

  async #listSecrets(content: VolumeSnapshotContent, signal: AbortSignal): Promise<Texts> {
    const { client } = this.#context;
    if (content.status?.volumeGroupSnapshotHandle !== undefined)
      return annotatedSecret(client, content, SECRET, "snapshot content", signal);
    const { volumeSnapshotClassName: className } = content.spec;
    if (className === undefined) return {};
    const { name: contentName = "" } = content.metadata;
    const subject = { kind: "volumesnapshot", contentName } as const;
    const ref = secretReference("SnapshotterList", this.#classOf(className).parameters ?? {}, subject);
    if (!ref.ok) throw new Error(`failed to get secret reference for snapshot content ${contentName}: ${ref.error}`);
    return ref.value === undefined ? {} : readSecret(client, ref.value, signal);
  }

  #classOf(name: string) {
    const found = this.#context.cache(Class).get(name);
    if (found === undefined) throw new Error(`volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found`);
    return found;
  }

  #failed(content: VolumeSnapshotContent, isFirst: boolean, error: unknown, signal: AbortSignal): Acted {
    if (signal.aborted) throw error;
    const reason = isFirst ? "SnapshotCreationFailed" : "SnapshotContentCheckandUpdateFailed";
    const words = isFirst ? "Failed to create snapshot" : "Failed to check and update snapshot content";
    const wasFinal = error instanceof CallError && isFinal(error.cause);
    const failure = { reason, message: `${words}: ${messageOf(error)}`, isFinal: wasFinal } as const;
    return { plan: refused(content, failure, this.#now()), isDone: false };
  }

  #nodeOf(content: VolumeSnapshotContent): string | undefined {
    return knownNode(content, content.spec.source.volumeHandle, this.#options.controllers, this.#volumeOf);
  }

  #now(): number {
    return this.#context.clock.now();
  }
}

/** A call of the driver failed; `cause` says how. */
export class CallError extends Error {
  override readonly name = "CallError";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
