/**
 * Makes sure that a container's image is on the node, and that its Pod may use it: by its pull policy it is there, or
 * is pulled.
 *
 *     name ──► present? ──► keyring ──► access by records of pulls ──► back-off ──► queue ──► pull with each credential
 *
 * 1. After a failed pull, the next one for the same Pod and image waits (`lifecycle/pull-backoff.ts`).
 * 2. Concurrent pulls of an image with the same credentials are one pull.
 */
import { type core, formatMs, goQuote } from "#api";
import { type Clock, isAbort, LruMap } from "#base";
import { type AnyContainer, messageOf, StartError } from "../containers/index.ts";
import { isBackedOff, type PullFailure, pullFailed } from "../lifecycle/index.ts";
import type { PodEvents, PodObjects } from "../objects/index.ts";
import { imagePullBackOff } from "../pod-status/index.ts";
import type { Image, PodSandboxConfig, Runtime } from "../runtime/runtime.ts";
import type { ProviderCredentials } from "./credential-providers.ts";
import type { ImageMetrics } from "./image-metrics.ts";
import { parseImageName, withDefaultTag } from "./image-name.ts";
import { type Credential, hashOf } from "./keyring.ts";
import type { NodeCredentials } from "./node-credentials.ts";
import { pullProblem } from "./pull-problem.ts";
import type { PullProgress } from "./pull-progress.ts";
import type { PullQueue } from "./pull-queue.ts";
import type { ImageAccess } from "./pull-records.ts";
import { credentialsFor } from "./pull-secrets.ts";

export interface ImagePuller {
  /** Throws StartError with the reason for the container's status. */
  ensure(request: PullRequest, signal: AbortSignal): Promise<Image>;
}

export interface PullRequest {
  readonly pod: core.Pod;
  readonly container: Pick<AnyContainer, "name" | "image" | "imagePullPolicy">;
  readonly sandbox: PodSandboxConfig;
}

export interface ImagePullerOptions {
  readonly runtime: Pick<Runtime, "images">;
  readonly objects: Pick<PodObjects, "secret">;
  readonly events: PodEvents;
  readonly clock: Clock;
  readonly metrics?: Pick<ImageMetrics, "pulled"> | undefined;
  /** Default: the node has none. */
  readonly nodeCredentials?: NodeCredentials | undefined;
  readonly providers?: ProviderCredentials | undefined;
  /** Default: every Pod may use every image that is there. */
  readonly access?: ImageAccess | undefined;
  /** Default: any number of pulls at a time. */
  readonly queue?: PullQueue | undefined;
  readonly progress?: Pick<PullProgress, "during"> | undefined;
}

const MAX_FAILURES = 10_000;

interface Pulled {
  /** Undefined: none were needed. */
  readonly used: Credential | undefined;
}

export function imagePuller(options: ImagePullerOptions): ImagePuller {
  const { runtime, events, clock, access, queue, progress } = options;
  const failures = new LruMap<string, PullFailure>(MAX_FAILURES);
  const pulling = new Map<string, Promise<Pulled>>();

  const keyring = async (image: string, pod: core.Pod, signal: AbortSignal): Promise<readonly Credential[]> => [
    ...credentialsFor(image, await pullSecrets(options, pod)),
    ...((await options.nodeCredentials?.(image)) ?? []),
    ...((await options.providers?.(image, pod, signal)) ?? []),
  ];

  const pullWith = async (
    image: string,
    credentials: readonly Credential[],
    { sandbox, pod }: PullRequest,
    started: () => void,
    signal: AbortSignal,
  ): Promise<Pulled> => {
    const attempts = async (): Promise<Pulled> => {
      const problems: unknown[] = [];
      for (const used of credentials.length > 0 ? credentials : [undefined]) {
        try {
          await runtime.images.pull(image, { auth: used?.auth, sandbox }, signal);
          return { used };
        } catch (error) {
          if (isAbort(error, signal)) throw error;
          problems.push(error);
        }
      }
      throw together(problems);
    };
    const run = () => {
      started();
      return progress === undefined ? attempts() : progress.during(image, pod, attempts, signal);
    };
    return queue === undefined ? run() : queue.run(run, signal);
  };

  const pullOnce = (
    image: string,
    credentials: readonly Credential[],
    request: PullRequest,
    started: () => void,
    signal: AbortSignal,
  ): Promise<Pulled> => {
    const key = JSON.stringify([image, credentials.map(({ auth, source }) => [hashOf(auth), source])]);
    const running = pulling.get(key);
    // A second caller depends on the first one's signal: if that aborts, the next sync pulls again.
    if (running !== undefined) return running;
    const pull = pullWith(image, credentials, request, started, signal).finally(() => pulling.delete(key));
    pulling.set(key, pull);
    return pull;
  };

  /** Its record begins before the pull: a kubelet that dies leaves no image that looks as if it had been there. */
  const recordedPull = async (
    image: string,
    wanted: string,
    credentials: readonly Credential[],
    request: PullRequest,
    started: () => void,
    signal: AbortSignal,
  ): Promise<Image> => {
    await access?.intend(wanted);
    let isRecorded = false;
    try {
      const { used } = await pullOnce(image, credentials, request, started, signal);
      const pulled = await statusOf(runtime, image, signal);
      if (pulled === undefined) throw new Error(`image ${goQuote(wanted)} is missing after it was pulled`);
      isRecorded = true;
      await access?.pulled(wanted, pulled.id, used);
      return pulled;
    } finally {
      if (!isRecorded) await access?.failed(wanted);
    }
  };

  return {
    async ensure(request, signal) {
      const { pod, container } = request;
      const wanted = container.image ?? "";
      const image = withDefaultTag(wanted);
      if (parseImageName(image) === undefined) throw invalidName(events, pod, wanted);
      const policy = container.imagePullPolicy ?? (image.endsWith(":latest") ? "Always" : "IfNotPresent");
      const present = policy === "Always" ? undefined : await statusOf(runtime, image, signal);
      if (policy === "Never" && present === undefined) {
        const why = `Container image ${goQuote(wanted)} is not present with pull policy of Never`;
        throw neverPulled(events, pod, why);
      }
      const credentials = await keyring(image, pod, signal);
      if (present !== undefined) {
        if (access === undefined || (await access.mayUse(wanted, present, credentials))) {
          const may = access === undefined ? "" : " and can be accessed by the pod";
          events.record(pod, "Normal", "Pulled", `Container image ${goQuote(wanted)} already present on machine${may}`);
          return present;
        }
        if (policy === "Never") {
          const why = `Container image ${goQuote(wanted)} is present with pull policy of Never but does not have the proper credentials to access the image`;
          throw neverPulled(events, pod, why);
        }
      }
      const key = `${pod.metadata.uid}_${image}`;
      const failure = failures.get(key);
      if (failure !== undefined && isBackedOff(failure, clock.now()))
        throw backedOff(events, pod, wanted, failure.message);
      events.record(pod, "Normal", "Pulling", `Pulling image ${goQuote(wanted)}`);
      const askedMs = clock.monotonic();
      let startedMs = askedMs;
      const started = () => {
        startedMs = clock.monotonic();
      };
      try {
        const pulled = await recordedPull(image, wanted, credentials, request, started, signal);
        failures.delete(key);
        const now = clock.monotonic();
        options.metrics?.pulled((now - startedMs) / 1000, pulled.sizeBytes);
        const [took, waited] = [formatMs(now - startedMs), formatMs(now - askedMs)];
        const note = `Successfully pulled image ${goQuote(wanted)} in ${took} (${waited} including waiting). Image size: ${pulled.sizeBytes} bytes.`;
        events.record(pod, "Normal", "Pulled", note);
        return pulled;
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        const { reason, message } = pullProblem(wanted, messageOf(error));
        failures.set(key, pullFailed(failure, clock.now(), `${reason}: ${message}`));
        events.record(pod, "Warning", "Failed", `Failed to pull image ${goQuote(wanted)}: ${messageOf(error)}`);
        events.record(pod, "Warning", "Failed", `Error: ${reason}`);
        throw new StartError(reason, message, { cause: error });
      }
    },
  };
}

/** As upstream joins errors: one as it is, several in brackets, each once. */
function together(problems: readonly unknown[]): unknown {
  const texts = [...new Set(problems.map(messageOf))];
  return texts.length <= 1 ? problems[0] : new Error(`[${texts.join(", ")}]`, { cause: problems[0] });
}

async function pullSecrets({ objects }: ImagePullerOptions, { metadata, spec }: core.Pod): Promise<core.Secret[]> {
  const found: core.Secret[] = [];
  for (const { name = "" } of spec?.imagePullSecrets ?? []) {
    const secret = await objects.secret(metadata.namespace ?? "", name);
    // A missing Secret is not a failure: the pull may work without it.
    if (secret !== undefined) found.push(secret);
  }
  return found;
}

async function statusOf(
  runtime: Pick<Runtime, "images">,
  image: string,
  signal: AbortSignal,
): Promise<Image | undefined> {
  try {
    return await runtime.images.status(image, signal);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    throw new StartError("ImageInspectError", `Failed to inspect image ${goQuote(image)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function invalidName(events: PodEvents, pod: core.Pod, image: string): StartError {
  const message = `Failed to apply default image tag ${goQuote(image)}: couldn't parse image name ${goQuote(image)}: invalid reference format`;
  events.record(pod, "Warning", "InspectFailed", message);
  events.record(pod, "Warning", "Failed", "Error: InvalidImageName");
  return new StartError("InvalidImageName", message);
}

function neverPulled(events: PodEvents, pod: core.Pod, message: string): StartError {
  events.record(pod, "Warning", "ErrImageNeverPull", message);
  events.record(pod, "Warning", "Failed", "Error: ErrImageNeverPull");
  return new StartError("ErrImageNeverPull", message);
}

function backedOff(events: PodEvents, pod: core.Pod, image: string, problem: string): StartError {
  events.record(pod, "Normal", "BackOff", `Back-off pulling image ${goQuote(image)}`);
  events.record(pod, "Warning", "Failed", "Error: ImagePullBackOff");
  const { reason = "", message = "" } = imagePullBackOff(image, problem);
  return new StartError(reason, message);
}
