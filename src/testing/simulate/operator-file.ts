/**
 * A user's operator as a module:
 *
 *     export const controllers = [defineController({ … })];      made with k8ts/controllers
 *     export const manifests = ["config/crd", "config/rbac"];    folders, files or objects
 *     export async function scenario({ client, sleep, pause, random }) { … }
 *     export function missing({ objects }) { … }                 what is not yet as it should be, in words; optional
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { KubeObject } from "#api";
import { objectsOf } from "#client";
import type { Controller } from "#controllers";
import type { Scenario, Stage } from "./scenario.ts";

export interface OperatorModule {
  readonly controllers: readonly Controller[];
  readonly manifests?: readonly (string | object)[] | undefined;
  readonly scenario: (stage: Stage) => Promise<void>;
  /** At rest: what is missing, in words. */
  readonly missing?: ((state: { readonly objects: readonly KubeObject[] }) => string | undefined) | undefined;
}

const NODES = { count: 2, cpu: "4", memory: "8Gi", pods: 50 };

export async function operatorScenario(name: string, module: OperatorModule): Promise<Scenario> {
  const { controllers, scenario, missing } = module;
  if (!Array.isArray(controllers) || typeof scenario !== "function")
    throw new TypeError(`${name} must export "controllers", an array, and "scenario", a function`);
  return {
    name,
    words: `the operator of ${name}`,
    parts: { nodes: NODES, operators: controllers },
    manifests: await objectsOf(module.manifests ?? []),
    play: (stage) => scenario(stage),
    missing: ({ cluster }) => missing?.({ objects: [...cluster.objects.values()] }),
  };
}

export async function scenarioOfFile(file: string): Promise<Scenario> {
  const module = (await import(pathToFileURL(resolve(file)).href)) as OperatorModule;
  return operatorScenario(file, module);
}
