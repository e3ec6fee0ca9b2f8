import type { BenchOptions } from "./bench-options.ts";
import { compilerPackage, installMissing, libcHeadersPackage, mosquittoPackage } from "./debian-packages.ts";
import { compileLoad } from "./load/compiled-load.ts";
import { measureConnections } from "./mqtt-connections.ts";
import { measureMessages } from "./mqtt-messages.ts";

export async function mqttBench(options: BenchOptions): Promise<string> {
  if (installMissing([mosquittoPackage, compilerPackage, libcHeadersPackage]).length > 0) {
    throw new Error("mosquitto is needed as the peer, and a C compiler for the load.");
  }
  const load = compileLoad("mqtt");
  try {
    return [await measureMessages(options, load), await measureConnections(options, load)].join("\n\n");
  } finally {
    load.remove();
  }
}
