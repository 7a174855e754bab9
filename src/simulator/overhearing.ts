/** A channel of an agent with somebody who listens. */
import type { Channel, ChannelListener } from '../agent/channel.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';

interface Ears {
  /** The agent is about to announce this. */
  announces(announcement: Announcement): void;
  /** A listener around the agent's. */
  around?(listener: ChannelListener): ChannelListener;
}

export function overhearing(channel: Channel, ears: Ears): Channel {
  return {
    open: (listener) => channel.open(ears.around?.(listener) ?? listener),
    announce: (announcement) => {
      ears.announces(announcement);
      channel.announce(announcement);
    },
    giveNotice: (epoch) => channel.giveNotice(epoch),
    tellSuccess: (end) => channel.tellSuccess(end),
    askForPod: () => channel.askForPod(),
    ping: () => channel.ping(),
    close: () => channel.close(),
  };
}
