// Barriers in shared memory that count arrivals and the bytes of copies.
DEV void mbar_init(u32 bar, u32 count, LINE_) { simulator_->mbarrierInit(bar, count, line_); }
DEV void mbar_inval(u32 bar, LINE_) { simulator_->mbarrierInvalidate(bar, line_); }
DEV void mbar_init_fence(LINE_) { simulator_->mbarrierInitFence(line_); }
DEV void mbar_arrive(u32 bar, LINE_) { simulator_->mbarrierArrive(bar, 1, 0, 0, line_); }
DEV void cp_async_mbar_arrive(u32 bar, LINE_) { simulator_->copyAsyncArrive(bar, line_); }
DEV void mbar_expect_tx(u32 bar, u32 bytes, LINE_) { simulator_->mbarrierArrive(bar, 1, 1, bytes, line_); }
DEV void mbar_expect_tx_noarrive(u32 bar, u32 bytes, LINE_) { simulator_->mbarrierArrive(bar, 0, 1, bytes, line_); }
DEV u32 mbar_try(u32 bar, u32 parity, LINE_) { return simulator_->mbarrierTry(bar, parity, line_); }
DEV void mbar_wait(u32 bar, u32 parity, LINE_) { while (!simulator_->mbarrierTry(bar, parity, line_)) {} }
