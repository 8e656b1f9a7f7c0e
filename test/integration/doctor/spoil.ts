/** A command as it is sent; its name is, say, `PutItemCommand`. */
interface SentCommand {
  readonly input: Record<string, unknown>;
}

interface Client {
  send(command: never): Promise<unknown>;
}

/** What a gap makes of a command: what is sent instead, and what comes back of it. */
export interface Gap {
  /** The commands that it spoils. */
  readonly commands: readonly string[];
  /** Changes a command's input in place, or throws what the endpoint would answer. */
  readonly input?: (input: Record<string, unknown>) => void;
  /** Changes a reply, or makes one where `isIgnored`. */
  readonly reply?: (reply: Record<string, unknown>) => void;
  /** Nothing is done, and nothing said. */
  readonly isIgnored?: true;
}

/** A client of an endpoint that has a gap. */
export function spoil<Spoilt extends Client>(client: Spoilt, gap: Gap): Spoilt {
  const send = async (command: SentCommand): Promise<unknown> => {
    if (!gap.commands.includes(command.constructor.name)) return client.send(command as never);
    gap.input?.(command.input);
    const reply = gap.isIgnored ? {} : await client.send(command as never);
    gap.reply?.(reply as Record<string, unknown>);
    return reply;
  };
  return new Proxy(client, {
    get: (target, name) => (name === 'send' ? send : (Reflect.get(target, name) as unknown)),
  });
}

/** Takes members of an input or a reply away. */
export const without =
  (...names: string[]) =>
  (value: Record<string, unknown>): void => {
    for (const name of names) delete value[name];
  };

/** Refuses as AWS refuses what it does not know. */
export const unknown = (): never => {
  throw Object.assign(new Error('not here'), {
    name: 'UnknownOperationException',
    $metadata: { httpStatusCode: 400 },
  });
};
