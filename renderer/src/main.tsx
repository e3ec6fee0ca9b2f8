import "./control/content-policy.ts";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "uplot/dist/uPlot.min.css";
import "./ui/fonts.css";
import "./ui/global.css";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { Frame } from "./app/frame.tsx";
import { offerToMenu } from "./app/menu-commands.ts";
import { chooseTransport } from "./control/choose-transport.ts";
import { ControlProvider } from "./control/client-context.tsx";
import { createControlClient } from "./control/control-client.ts";
import { createDashboardStores } from "./control/dashboard-stores.ts";
import { nextFrame } from "./control/frame-store.ts";
import { createQueries } from "./control/queries.ts";
import { watchUnload } from "./ui/ask-before-unload.ts";
import { ConfirmProvider } from "./ui/forms/confirm.tsx";
import { Boundary } from "./ui/status/boundary.tsx";
import { resolver, theme } from "./ui/theme.ts";
import { preloadContentWell } from "./viewer/content-well.tsx";

const client = createControlClient({ transport: chooseTransport(window), nextFrame });
const control = { client, stores: createDashboardStores(client, nextFrame) };
const colorSchemeManager = localStorageColorSchemeManager({ key: "backlot.scheme" });

createRoot(document.getElementById("root") as HTMLElement).render(
  <MantineProvider theme={theme} cssVariablesResolver={resolver} colorSchemeManager={colorSchemeManager} defaultColorScheme="auto">
    <QueryClientProvider client={createQueries(client)}>
      <ControlProvider control={control}>
        <ConfirmProvider>
          <Boundary region="window">
            <Frame />
          </Boundary>
        </ConfirmProvider>
      </ControlProvider>
    </QueryClientProvider>
    <Notifications position="bottom-right" containerWidth={400} />
  </MantineProvider>,
);

if (window.backlot) offerToMenu(window.backlot);
else watchUnload();
preloadContentWell();
