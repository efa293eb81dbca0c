/** postStart and preStop hooks: exec, HTTP request, or sleep. */
import type { core } from "#api";
import { httpQuestion, type ProbeMeans } from "./run-probe.ts";

export interface LifecycleHooks {
  /** Throws if the hook fails. */
  run(request: HookRequest, signal: AbortSignal): Promise<void>;
}

export interface HookRequest {
  readonly handler: core.LifecycleHandler;
  readonly containerId: string;
  readonly container: Pick<core.Container, "name" | "ports">;
  readonly podIp: string;
}

export function lifecycleHooks({ runtime, network, clock }: ProbeMeans): LifecycleHooks {
  return {
    async run({ handler, containerId, container, podIp }, signal) {
      const { exec, httpGet, sleep } = handler;
      if (exec !== undefined) {
        const { exitCode, stdout, stderr } = await runtime.execSync(containerId, exec.command ?? [], 0, signal);
        if (exitCode === 0) return;
        const output = Buffer.concat([stdout, stderr]).toString();
        throw new Error(`Exec lifecycle hook (${(exec.command ?? []).join(" ")}) exited with ${exitCode}: ${output}`);
      }
      if (httpGet !== undefined) await network.httpGet(httpQuestion(httpGet, container, podIp), signal);
      else if (sleep !== undefined) await clock.sleep(Number(sleep.seconds) * 1000, signal);
      else throw new Error(`invalid handler: ${Object.keys(handler).join(", ")}`);
    },
  };
}
