/** The events service without the supervisor. `node events-service.ts PORT DATABASE` */
import { runService } from "../../servers/core/service/run-service.ts";
import { eventsService } from "../../servers/events/events-service.ts";

const [port, database] = process.argv.slice(2);
const running = await runService(eventsService, {
  dataDir: "unused",
  config: { port: Number(port), database, rateLimits: false },
  // What the supervisor does with a batch happens in its process.
  onBatch: ({ seq }) => void setImmediate(() => running.outbox.ack(seq)),
});
process.once("SIGTERM", () => void running.stop().then(() => process.exit(0)));
