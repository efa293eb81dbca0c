/** The driver's services, put together. */
import { GrpcError, type HandlerContext } from "#grpc";
import type { CsiHandlers } from "../../csi/services.ts";
import { NoSpaceError } from "../machine/machine.ts";
import type { DriverContext } from "./context.ts";
import { volumeDescriptions } from "./describe-volumes.ts";
import { volumeExpansion } from "./expand-volume.ts";
import { groupService } from "./groups.ts";
import { identityService } from "./identity.ts";
import { volumeMaking } from "./make-volume.ts";
import { nodeVolumes } from "./node-volumes.ts";
import { publishing } from "./publish.ts";
import { volumePublishing } from "./publish-volume.ts";
import { snapshotHandlers } from "./snapshots.ts";
import { staging } from "./stage.ts";

/** ControllerModifyVolume is absent: a volume has no parameters that can be changed. */
export type LocalController = Omit<CsiHandlers<"Controller">, "ControllerModifyVolume">;

export interface ControllerServices {
  readonly Identity: CsiHandlers<"Identity">;
  readonly Controller: LocalController;
  readonly GroupController: CsiHandlers<"GroupController">;
}

export function controllerServices(context: DriverContext): ControllerServices {
  return {
    Identity: identityService(context),
    Controller: tellingFullDisks({
      ...volumeDescriptions(context),
      ...volumeMaking(context),
      ...volumePublishing(context),
      ...volumeExpansion(context),
      ...snapshotHandlers(context),
    }),
    GroupController: tellingFullDisks(groupService(context)),
  };
}

export function nodeService(context: DriverContext, nodeId: string): CsiHandlers<"Node"> {
  return tellingFullDisks({
    ...staging(context, nodeId),
    ...publishing(context, nodeId),
    ...nodeVolumes(context, nodeId),
  });
}

/** A full disk has a code of its own. */
function tellingFullDisks<T extends object>(handlers: T): T {
  type Handle = (request: unknown, context: HandlerContext) => Promise<unknown>;
  const told =
    (handle: Handle): Handle =>
    async (request, context) => {
      try {
        return await handle(request, context);
      } catch (error) {
        if (error instanceof NoSpaceError) throw new GrpcError("RESOURCE_EXHAUSTED", error.message, { cause: error });
        throw error;
      }
    };
  return Object.fromEntries(Object.entries(handlers).map(([name, handle]) => [name, told(handle as Handle)])) as T;
}
