/** Aedes as its documentation has it. `node mqtt-aedes.ts PORT` */
import { createServer } from "node:net";
import { Aedes } from "aedes";

const broker = await Aedes.createBroker();
createServer(broker.handle).listen(Number(process.argv[2]), "127.0.0.1", 2_048);
