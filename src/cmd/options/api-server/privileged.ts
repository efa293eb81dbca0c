/** `--allow-privileged`, as in kube-apiserver. */
import { Option } from "commander";
import { boolean } from "../values.ts";

export interface PrivilegedOptions {
  readonly allowPrivileged: boolean;
}

export function allowPrivilegedOption(byDefault: boolean): Option {
  return new Option("--allow-privileged [bool]", "allow privileged containers, and host processes on Windows")
    .preset("true")
    .argParser(boolean)
    .default(byDefault);
}
