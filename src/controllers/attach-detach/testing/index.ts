/** Attaching in tests. */
export { boundClaim, type ScriptedAttacher, scriptedAttacher } from "./scripted-attacher.ts";
