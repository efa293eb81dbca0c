/**
 * Makes sure that a container's image is on the node: by its pull policy it is there, or is pulled.
 *
 * 1. After a failed pull, the next one for the same Pod and image waits (`lifecycle/pull-backoff.ts`).
 * 2. Concurrent pulls of an image with the same credentials are one pull.
 */
import { type core, formatMs, goQuote } from "#api";
import { type Clock, isAbort, LruMap } from "#base";
import { type AnyContainer, messageOf, StartError } from "../containers/index.ts";
import { isBackedOff, type PullFailure, pullFailed } from "../lifecycle/index.ts";
import type { PodEvents, PodObjects } from "../objects/index.ts";
import { errImagePull, imagePullBackOff } from "../pod-status/index.ts";
import type { Image, ImageAuth, PodSandboxConfig, Runtime } from "../runtime/runtime.ts";
import type { ImageMetrics } from "./image-metrics.ts";
import { parseImageName, withDefaultTag } from "./image-name.ts";
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
}

const MAX_FAILURES = 10_000;

export function imagePuller(options: ImagePullerOptions): ImagePuller {
  const { runtime, events, clock } = options;
  const failures = new LruMap<string, PullFailure>(MAX_FAILURES);
  const pulling = new Map<string, Promise<string>>();

  const pullOnce = (image: string, auth: ImageAuth | undefined, request: PullRequest, signal: AbortSignal) => {
    const key = JSON.stringify([image, auth]);
    const running = pulling.get(key);
    // A second caller depends on the first one's signal: if that aborts, the next sync pulls again.
    if (running !== undefined) return running;
    const pull = runtime.images
      .pull(image, { auth, sandbox: request.sandbox }, signal)
      .finally(() => pulling.delete(key));
    pulling.set(key, pull);
    return pull;
  };

  const pull = async (image: string, request: PullRequest, signal: AbortSignal): Promise<void> => {
    const secrets = await pullSecrets(options, request.pod);
    const known = credentialsFor(image, secrets);
    let problem: unknown;
    for (const auth of known.length > 0 ? known : [undefined]) {
      try {
        await pullOnce(image, auth, request, signal);
        return;
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        problem = error;
      }
    }
    throw problem;
  };

  return {
    async ensure(request, signal) {
      const { pod, container } = request;
      const wanted = container.image ?? "";
      const image = withDefaultTag(wanted);
      if (parseImageName(image) === undefined) throw invalidName(events, pod, wanted);
      const policy = container.imagePullPolicy ?? (image.endsWith(":latest") ? "Always" : "IfNotPresent");
      const present = await statusOf(runtime, image, signal);
      if (present !== undefined && policy !== "Always") {
        const note = `Container image ${goQuote(wanted)} already present on machine and can be accessed by the pod`;
        events.record(pod, "Normal", "Pulled", note);
        return present;
      }
      if (policy === "Never") throw neverPulled(events, pod, wanted);
      const key = `${pod.metadata.uid}_${image}`;
      const failure = failures.get(key);
      if (failure !== undefined && isBackedOff(failure, clock.now()))
        throw backedOff(events, pod, wanted, failure.message);
      events.record(pod, "Normal", "Pulling", `Pulling image ${goQuote(wanted)}`);
      const startMs = clock.monotonic();
      try {
        await pull(image, request, signal);
        const pulled = await statusOf(runtime, image, signal);
        if (pulled === undefined) throw new Error(`image ${goQuote(wanted)} is missing after it was pulled`);
        failures.delete(key);
        const tookMs = clock.monotonic() - startMs;
        options.metrics?.pulled(tookMs / 1000, pulled.sizeBytes);
        const took = formatMs(tookMs);
        const note = `Successfully pulled image ${goQuote(wanted)} in ${took} (${took} including waiting). Image size: ${pulled.sizeBytes} bytes.`;
        events.record(pod, "Normal", "Pulled", note);
        return pulled;
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        failures.set(key, pullFailed(failure, clock.now(), messageOf(error)));
        throw failedPull(events, pod, wanted, error);
      }
    },
  };
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

function neverPulled(events: PodEvents, pod: core.Pod, image: string): StartError {
  const message = `Container image ${goQuote(image)} is not present with pull policy of Never`;
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

function failedPull(events: PodEvents, pod: core.Pod, image: string, error: unknown): StartError {
  const problem = messageOf(error);
  events.record(pod, "Warning", "Failed", `Failed to pull image ${goQuote(image)}: ${problem}`);
  events.record(pod, "Warning", "Failed", "Error: ErrImagePull");
  const { reason = "", message = "" } = errImagePull(problem);
  return new StartError(reason, message, { cause: error });
}
