/** The command line of this process, for another one that does the same in the background. */
export function ownArguments(args: readonly string[] = process.argv.slice(2)): readonly string[] {
  return args.filter((arg) => !/^--(systemd|detach)(=|$)/.test(arg) && arg !== "install");
}
