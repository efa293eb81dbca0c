/** Carries out what was decided about a group's content: asks the driver, and plans what follows from its answer. */
import type { ControllerContext } from "#controllers";
import { groupKinds, type VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import { annotations, finalizers, nodeMark, writtenNode } from "../objects/names.ts";
import { driverParameters, secretReference } from "../objects/secret-reference.ts";
import { annotated, changedFinalizers, oneStep, warning } from "../objects/writes.ts";
import { isFinal, messageOf } from "./answers.ts";
import type { Texts } from "./calls.ts";
import { type Acted, CallError, done } from "./content-worker.ts";
import type { GroupAction } from "./decide-group.ts";
import { createGroup, deleteGroup, findGroup, type GroupAnswer } from "./group-answers.ts";
import { groupAnswered, groupDeleted, groupRefused } from "./group-outcome.ts";
import { driverOn, type FindVolume, nodeOfVolume, searched } from "./locate.ts";
import { type SnapshotterOptions, TIMEOUT_MS } from "./options.ts";
import { annotatedSecret, readSecret } from "./secrets.ts";
import { volumesOfDriver } from "./volumes.ts";

const { VolumeGroupSnapshotContent: Content, VolumeGroupSnapshotClass: Class } = groupKinds;
const SECRET = { name: annotations.groupSecretName, namespace: annotations.groupSecretNamespace };
const WORD = "group snapshot content";

export class GroupWorker {
  readonly #options: SnapshotterOptions;
  readonly #context: ControllerContext;
  readonly #volumeOf: FindVolume;

  constructor(options: SnapshotterOptions, context: ControllerContext) {
    this.#options = options;
    this.#context = context;
    this.#volumeOf = volumesOfDriver(context, options.controllers.driverName);
    context.cache(Class);
  }

  isOurs(content: VolumeGroupSnapshotContent): boolean {
    const { onlyNode } = this.#options;
    return onlyNode === undefined || this.#nodesOf(content).includes(onlyNode);
  }

  async act(content: VolumeGroupSnapshotContent, action: GroupAction, signal: AbortSignal): Promise<Acted> {
    switch (action.kind) {
      case "nothing":
        return done();
      case "release":
        return done(oneStep(changedFinalizers(Content, content, { remove: [finalizers.groupContent] })));
      case "unmark":
        return done(oneStep(annotated(Content, content, { [annotations.groupBeingCreated]: null })));
      case "mark":
        return done(oneStep(this.#marking(content)));
      case "create":
        return this.#create(content, action, signal);
      case "check":
        return this.#check(content, action, signal);
      case "delete":
        return this.#delete(content, action, signal);
    }
  }

  #marking(content: VolumeGroupSnapshotContent) {
    const [node, ...others] = this.#nodesOf(content);
    const marks = { [annotations.groupBeingCreated]: "yes", ...nodeMark(others.length === 0 ? node : undefined) };
    return annotated(Content, content, marks);
  }

  async #create(
    content: VolumeGroupSnapshotContent,
    { volumes, isFirst }: Extract<GroupAction, { kind: "create" }>,
    signal: AbortSignal,
  ): Promise<Acted> {
    try {
      const { parameters, secrets } = await this.#input(content, signal);
      const driver = this.#driver(content);
      const { groupNamePrefix = "groupsnapshot" } = this.#options;
      const name = `${groupNamePrefix}-${content.spec.volumeGroupSnapshotRef.uid}`;
      const answer = await createGroup(driver, { name, volumes, parameters, secrets }, this.#call(signal)).catch(
        (error: unknown) => {
          const words = `failed to take group snapshot of the volumes [${volumes.join(" ")}]`;
          throw new CallError(`${words}: ${JSON.stringify(messageOf(error))}`, error);
        },
      );
      return this.#answered(content, answer);
    } catch (error) {
      return this.#failed(content, isFirst, error, signal);
    }
  }

  async #check(
    content: VolumeGroupSnapshotContent,
    { handles }: Extract<GroupAction, { kind: "check" }>,
    signal: AbortSignal,
  ): Promise<Acted> {
    const { controllers } = this.#options;
    const { volumeGroupSnapshotHandle: handle, volumeSnapshotHandles: members } = handles;
    const unlisted = (error: unknown): never => {
      const words = `failed to list group snapshot for group snapshot content ${content.metadata.name}`;
      throw new CallError(`${words}: ${JSON.stringify(messageOf(error))}`, error);
    };
    try {
      if (members.length === 0) {
        const { name } = content.metadata;
        throw new Error(`cannot list group snapshot ${name}. No snapshots found in the group snapshot content`);
      }
      const secrets = await this.#getSecrets(content, signal);
      const ask = (driver: ReturnType<typeof driverOn>) =>
        findGroup(driver, handle, members, secrets, this.#call(signal));
      if (writtenNode(content) !== undefined || controllers.nodes() === undefined)
        return this.#answered(content, await ask(this.#driver(content)).catch(unlisted));
      const { node, found } = await searched(controllers, ask, signal).catch(unlisted);
      const { plan, isDone } = this.#answered(content, found);
      return {
        plan: { ...plan, steps: [[annotated(Content, content, nodeMark(node))], ...(plan?.steps ?? [])] },
        isDone,
      };
    } catch (error) {
      return this.#failed(content, false, error, signal);
    }
  }

  async #delete(
    content: VolumeGroupSnapshotContent,
    { handle, members }: Extract<GroupAction, { kind: "delete" }>,
    signal: AbortSignal,
  ): Promise<Acted> {
    const { client, log } = this.#context;
    const { name } = content.metadata;
    let words = "Failed to get snapshot credentials";
    try {
      const secrets = await annotatedSecret(client, content, SECRET, WORD, signal);
      words = "Failed to delete group snapshot";
      if (members.length === 0)
        throw new Error(`cannot delete ${WORD} ${name}. No snapshots found in the group snapshot`);
      await deleteGroup(this.#driver(content), handle, members, secrets, this.#call(signal));
      return done(groupDeleted(content));
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn("a group snapshot could not be deleted and is tried again", { content: name, error });
      return { plan: { events: [warning(content, "GroupSnapshotDeleteError", words)] }, isDone: false };
    }
  }

  async #input(
    content: VolumeGroupSnapshotContent,
    signal: AbortSignal,
  ): Promise<{ parameters: Texts; secrets: Texts }> {
    const { name = "" } = content.metadata;
    try {
      const { volumeGroupSnapshotClassName: className, volumeGroupSnapshotRef: ref } = content.spec;
      if (className === undefined)
        throw new Error(`failed to take group snapshot ${name} without a group snapshot class`);
      const own = driverParameters(this.#classOf(className).parameters ?? {});
      if (!own.ok) throw new Error(`failed to remove CSI Parameters of prefixed keys: ${own.error}`);
      const secrets = await annotatedSecret(this.#context.client, content, SECRET, WORD, signal);
      if (this.#options.extraCreateMetadata !== true) return { parameters: own.value, secrets };
      const names = {
        "csi.storage.k8s.io/volumegroupsnapshot/name": ref.name ?? "",
        "csi.storage.k8s.io/volumegroupsnapshot/namespace": ref.namespace ?? "",
        "csi.storage.k8s.io/volumegroupsnapshotcontent/name": name,
      };
      return { parameters: { ...own.value, ...names }, secrets };
    } catch (error) {
      if (signal.aborted) throw error;
      const words = `failed to get input parameters to create group snapshot for group snapshot content ${name}`;
      throw new Error(`${words}: ${JSON.stringify(messageOf(error))}`, { cause: error });
    }
  }

  async #getSecrets({ metadata, spec }: VolumeGroupSnapshotContent, signal: AbortSignal): Promise<Texts> {
    const { volumeGroupSnapshotClassName: className } = spec;
    if (className === undefined) return {};
    const subject = { kind: "volumegroupsnapshot", contentName: metadata.name ?? "" } as const;
    const ref = secretReference("GroupSnapshotterGet", this.#classOf(className).parameters ?? {}, subject);
    if (!ref.ok) throw new Error(`failed to get secret reference for ${WORD} ${metadata.name}: ${ref.error}`);
    return ref.value === undefined ? {} : readSecret(this.#context.client, ref.value, signal);
  }

  #classOf(name: string) {
    const found = this.#context.cache(Class).get(name);
    if (found !== undefined) return found;
    throw new Error(`volumegroupsnapshotclass.groupsnapshot.storage.k8s.io "${name}" not found`);
  }

  /** Volumes on several nodes have no common point in time. */
  #driver(content: VolumeGroupSnapshotContent) {
    const [node, ...others] = this.#nodesOf(content);
    if (others.length === 0) return driverOn(node, this.#options.controllers);
    const { driverName } = this.#options.controllers;
    const names = [node, ...others].sort().join(", ");
    throw new Error(`the volumes are on several nodes (${names}): ${driverName} snapshots groups on one node only`);
  }

  #nodesOf(content: VolumeGroupSnapshotContent): readonly string[] {
    const { controllers } = this.#options;
    const { nodeTopologyKey } = controllers;
    if (controllers.nodes() === undefined) return [];
    const written = writtenNode(content);
    if (written !== undefined) return [written];
    if (nodeTopologyKey === undefined) return [];
    const { volumeHandles = [] } = content.spec.source;
    const nodes = volumeHandles.map((handle) => nodeOfVolume(this.#volumeOf(handle), nodeTopologyKey));
    return [...new Set(nodes.filter((node) => node !== undefined))];
  }

  #answered(content: VolumeGroupSnapshotContent, answer: GroupAnswer): Acted {
    return { plan: groupAnswered(content, answer, this.#context.clock.now()), isDone: answer.isReady };
  }

  #failed(content: VolumeGroupSnapshotContent, isFirst: boolean, error: unknown, signal: AbortSignal): Acted {
    if (signal.aborted) throw error;
    const reason = isFirst ? "GroupSnapshotCreationFailed" : "GroupSnapshotContentCheckandUpdateFailed";
    const words = isFirst ? "Failed to create group snapshot" : "Failed to check and update group snapshot content";
    const wasFinal = error instanceof CallError && isFinal(error.cause);
    const failure = { reason, message: `${words}: ${messageOf(error)}`, isFinal: wasFinal } as const;
    return { plan: groupRefused(content, failure, this.#context.clock.now()), isDone: false };
  }

  #call(signal: AbortSignal) {
    return { signal, timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS };
  }
}
