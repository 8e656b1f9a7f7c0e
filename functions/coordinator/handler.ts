import { createCoordinatorHandler } from '../../shared/composition/aws/coordinator-handler.ts';

export const handler = createCoordinatorHandler();
