/** Serves CSI: what a driver is behind its socket. Methods without a handler answer UNIMPLEMENTED. */
import { type GrpcServer, type ServeOptions, servedService, serveGrpc } from "#grpc";
import { type CsiHandlers, type CsiServiceName, csiServices } from "./services.ts";

export type CsiImplementation = { readonly [N in CsiServiceName]?: Partial<CsiHandlers<N>> | undefined };

/** Services that are absent are unknown to callers. */
export function serveCsi(
  endpoint: string,
  implementation: CsiImplementation,
  options: ServeOptions,
): Promise<GrpcServer> {
  const { Identity, Controller, GroupController, SnapshotMetadata, Node } = csiServices();
  const given = implementation;
  const served = [
    given.Identity && servedService(Identity, given.Identity),
    given.Controller && servedService(Controller, given.Controller),
    given.GroupController && servedService(GroupController, given.GroupController),
    given.SnapshotMetadata && servedService(SnapshotMetadata, given.SnapshotMetadata),
    given.Node && servedService(Node, given.Node),
  ];
  return serveGrpc(
    endpoint,
    served.filter((service) => service !== undefined),
    options,
  );
}
