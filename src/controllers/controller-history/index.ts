/** ControllerRevisions: in which StatefulSets and DaemonSets keep what they were. */
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
