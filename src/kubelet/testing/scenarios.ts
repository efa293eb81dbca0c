/** What scenarios of Pods' life are written with. */
import { afterEach } from "vitest";
import type { core } from "#api";
import type { Script } from "../runtime/simulated/index.ts";
import { type TestKubelet, type TestKubeletOptions, testKubelet } from "./test-kubelet.ts";

/** Kubelets of the tests of a file: each ends with its test. */
export function kubelets(): (options?: TestKubeletOptions) => Promise<TestKubelet> {
  let running: TestKubelet | undefined;
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });
  return async (options = {}) => {
    running = await testKubelet(options);
    return running;
  };
}

export function podWith(spec: Partial<core.PodSpec> = {}, name = "web"): core.Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: { nodeName: "node-1", containers: [{ name: "app", image: "app:1" }], ...spec },
  };
}

/** `app` ends after one second, with the exit codes of its attempts in turn. */
export function exits(...codes: number[]): Script {
  return {
    container: ({ name, attempt }) => {
      const code = codes[attempt];
      return name === "app" && code !== undefined ? { exit: { afterMs: 1000, code } } : {};
    },
  };
}

export const seconds = (count: number): number => count * 1000;

/** `pod/container#attempt` of every start so far. */
export function started({ runtime }: TestKubelet): readonly string[] {
  const verb = "startContainer ";
  return runtime.calls.filter((call) => call.startsWith(verb)).map((call) => call.slice(verb.length));
}
