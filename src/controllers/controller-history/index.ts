/** ControllerRevisions: the template history of StatefulSets and DaemonSets. */
export {
  inOrder,
  keeps,
  nextNumber,
  type Revision,
  revisionData,
  revisionHash,
  revisionName,
  type Template,
  templateOf,
  tooMany,
} from "./revision.ts";
