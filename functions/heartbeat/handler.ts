import { createHeartbeatHandler } from '../../shared/composition/aws/heartbeat-handler.ts';

export const handler = createHeartbeatHandler();
