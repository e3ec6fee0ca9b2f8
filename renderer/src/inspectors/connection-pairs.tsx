import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { Pair } from "../ui/panel.tsx";

/** The facts that every connection has, for a list of pairs. */
export function ConnectionPairs({ connection }: { readonly connection: ConnectionHead }) {
  return (
    <>
      <Pair name="Client" mono>
        {connection.remote}
      </Pair>
      <Pair name="Server" mono>
        {connection.local}
      </Pair>
      <Pair name="TLS">{connection.tls ?? "no"}</Pair>
    </>
  );
}
