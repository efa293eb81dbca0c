/** Connect subresources (exec, proxy …): their options are parameters, and their content is not an API object. */
import type { ServedSubresource } from "#api";
import { capital } from "./names.ts";
import { METHODS, type Operation, type Parameter, type PathOperations } from "./operation.ts";
import type { OperationMaker } from "./operation-maker.ts";

export function isConnection({ kind }: ServedSubresource): boolean {
  return kind.endsWith("Options");
}

export function connections(maker: OperationMaker, sub: ServedSubresource): PathOperations[] {
  const path = `${maker.base}${maker.home}/{name}/${sub.name}`;
  // Only a proxy has DELETE: it forwards every method.
  if (!sub.verbs.includes("delete")) return [{ path, operations: connectAll(maker, sub, ["get", "post"], "", []) }];
  return [
    { path, operations: connectAll(maker, sub, METHODS, "", []) },
    { path: `${path}/{path}`, operations: connectAll(maker, sub, METHODS, "WithPath", [maker.parameters.rest]) },
  ];
}

function connectAll(
  maker: OperationMaker,
  sub: ServedSubresource,
  methods: readonly Operation["method"][],
  suffix: string,
  path: readonly Parameter[],
): Operation[] {
  const { kind, parameters, namespace, inNamespace } = maker;
  const name = inNamespace + kind.kind + capital(sub.name);
  const options = parameters.ofOptions(sub.typeName, `connectGet${name}`);
  const all = [parameters.nameOf(sub.kind), ...namespace, ...path, ...options];
  return methods.map((method) =>
    maker.make("connect", capital(method) + name + suffix, sub, all, {
      method,
      action: "connect",
      description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${kind.kind}`,
      produces: ["*/*"],
      responses: { 200: "text" },
    }),
  );
}
